// In place of the library: records what it is asked to start.
exports.TransportKind = { stdio: "stdio" };
exports.started = [];
exports.LanguageClient = class {
  constructor(id, name, server, options) {
    this.record = { id, name, server, options, state: "new" };
    exports.started.push(this.record);
  }
  start() { this.record.state = "started"; }
  stop() { this.record.state = "stopped"; }
};

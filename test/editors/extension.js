// The extension starts the server for both kinds of files, and stops it: run with NODE_PATH=stubs.
const assert = require("node:assert");
const { started } = require("vscode-languageclient/node");
const extension = require("../../editors/vscode/extension.js");

extension.deactivate(); // before it was started
extension.activate();
assert.strictEqual(started.length, 1);
assert.deepStrictEqual(started[0].server, { command: "skim-lsp-server", transport: "stdio" });
assert.deepStrictEqual(started[0].options.documentSelector.map((each) => each.language), ["skim", "mlir"]);
assert.strictEqual(started[0].state, "started");
extension.deactivate();
assert.strictEqual(started[0].state, "stopped");

// Starts skim-lsp-server for .skim and .mlir files.
const { workspace } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function activate() {
  const command = workspace.getConfiguration("skim").get("server");
  client = new LanguageClient(
    "skim",
    "Skim",
    { command, transport: TransportKind.stdio },
    {
      documentSelector: [
        { scheme: "file", language: "skim" },
        { scheme: "file", language: "mlir" },
      ],
    },
  );
  return client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };

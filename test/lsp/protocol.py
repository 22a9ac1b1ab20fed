"""Clients that break the protocol are answered and never end the server: protocol.py SERVER"""

import json
import subprocess
import sys
import unittest

from client import (INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, SERVER_NOT_INITIALIZED, Client)

SERVER = sys.argv.pop(1)
URI = "file:///somewhere/a.skim"
AT_START = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}


class Protocol(unittest.TestCase):
    def test_capabilities(self):
        with Client(SERVER) as client:
            for name in ["hoverProvider", "definitionProvider", "referencesProvider", "codeActionProvider"]:
                self.assertIs(client.capabilities[name], True)
            self.assertEqual(client.capabilities["textDocumentSync"]["change"], 1)
            self.assertIs(client.capabilities["documentSymbolProvider"], False)

    def test_order_of_life(self):
        with Client(SERVER, initialize=False) as client:
            self.assertEqual(client.error("textDocument/hover", AT_START), SERVER_NOT_INITIALIZED)
            client.notify("textDocument/didOpen", {})  # dropped
            self.assertEqual(client.error("initialize", None), INVALID_PARAMS)
            client.request("initialize", {"capabilities": {}})
            self.assertEqual(client.error("initialize", {"capabilities": {}}), INVALID_REQUEST)
            client.request("shutdown", None)
            self.assertEqual(client.error("textDocument/hover", AT_START), INVALID_REQUEST)
            client.notify("exit", None)
            self.assertEqual(client.process.wait(timeout=10), 0)

    def test_exit_codes(self):
        with Client(SERVER) as client:
            client.notify("exit", None)
            self.assertEqual(client.process.wait(timeout=10), 1)
        with Client(SERVER) as client:
            client.process.stdin.close()
            self.assertEqual(client.process.wait(timeout=10), 1)
        with Client(SERVER) as client:
            client.request("shutdown", None)
            client.process.stdin.close()
            self.assertEqual(client.process.wait(timeout=10), 0)

    def test_unknown_documents_and_methods(self):
        with Client(SERVER) as client:
            for method in ["hover", "definition", "completion"]:
                self.assertEqual(client.error("textDocument/" + method, AT_START), INVALID_PARAMS)
            self.assertEqual(client.error("textDocument/references", {**AT_START, "context": {}}), INVALID_PARAMS)
            self.assertEqual(client.error("textDocument/documentSymbol", {"textDocument": {"uri": URI}}), INVALID_PARAMS)
            self.assertEqual(client.error("textDocument/rename", AT_START), METHOD_NOT_FOUND)
            client.notify("textDocument/didChange",
                          {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": ""}]})
            client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
            client.notify("$/setTrace", {"value": "off"})
            client.settle()
            self.assertEqual(client.published, {})
            self.assertEqual(client.end(), 0)

    def test_other_languages_are_left_alone(self):
        with Client(SERVER) as client:
            self.assertIsNone(client.open("file:///somewhere/a.txt", "text", "plaintext"))
            self.assertIsNone(client.open("untitled:one", "pattern p { keep x }"))
            self.assertEqual(client.end(), 0)

    def test_wrong_parameters(self):
        with Client(SERVER) as client:
            client.open(URI, "pattern p { keep true }")
            for params in [None, [], {}, 3, {"textDocument": 3}, {"textDocument": {"uri": 3}},
                           {"textDocument": {"uri": URI}}, {"textDocument": {"uri": URI}, "position": {"line": "x"}},
                           {"textDocument": {"uri": "http://x/y"}, "position": {"line": 0, "character": 0}},
                           {"textDocument": {"uri": "nonsense"}, "position": {"line": 0, "character": 0}}]:
                self.assertEqual(client.error("textDocument/hover", params), INVALID_PARAMS, params)
                client.notify("textDocument/didChange", params)
                client.notify("textDocument/didOpen", params)
                client.notify("textDocument/didClose", params)
            self.assertEqual(client.end(), 0)

    def test_messages_that_are_none(self):
        with Client(SERVER) as client:
            for text, code in [("{", PARSE_ERROR), ("nonsense", PARSE_ERROR), ("[]", INVALID_REQUEST), ("3", INVALID_REQUEST),
                               ('{"id": 1, "method": "shutdown"}', INVALID_REQUEST), ('{"jsonrpc": "2.0"}', INVALID_REQUEST),
                               ('{"jsonrpc": "1.0", "method": "exit"}', INVALID_REQUEST),
                               ("[" * 100_000, PARSE_ERROR), ('{"a":' * 100_000, PARSE_ERROR)]:
                client.send_text(text)
                self.assertEqual(client.read()["error"]["code"], code, text[:40])
            client.send_bytes(b"Content-Length: 3\r\n\r\n\xff\xfe\xfd")
            self.assertEqual(client.read()["error"]["code"], PARSE_ERROR)
            for header in [b"Content-Length: 99999999999999999999\r\n\r\n", b"Content-Length: -1\r\n\r\n",
                           b"Content-Length: x\r\n\r\n", b"\r\n\r\n", b"Some-Header: 1\r\n\r\n", b"\0\0\0\n\n"]:
                client.send_bytes(header)
            # An answer that nobody asked for.
            client.send({"jsonrpc": "2.0", "id": 77, "result": None})
            self.assertEqual(client.end(), 0)

    def test_message_cut_short(self):
        with Client(SERVER) as client:
            client.send_bytes(b'Content-Length: 1000\r\n\r\n{"jsonrpc"')
            client.process.stdin.close()
            self.assertEqual(client.process.wait(timeout=10), 1)

    def test_identifiers_may_be_text(self):
        with Client(SERVER) as client:
            client.send({"jsonrpc": "2.0", "id": "a\"b", "method": "skim/unknown"})
            self.assertEqual(client.read_answer("a\"b")["error"]["code"], METHOD_NOT_FOUND)

    def test_delimited_input(self):
        messages = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}},
                    {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {
                        "uri": "test:///a.skim", "languageId": "skim", "version": 1, "text": "pattern p { keep x }"}}},
                    {"jsonrpc": "2.0", "id": 1, "method": "shutdown"}, {"jsonrpc": "2.0", "method": "exit"}]
        text = "\n// -----\n".join(map(json.dumps, messages))
        result = subprocess.run([SERVER, "--lit-test"], input=text, capture_output=True, text=True, timeout=20, check=True)
        self.assertIn("unknown name 'x'", result.stdout)

    def test_usage(self):
        def run(*arguments):
            return subprocess.run([SERVER, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=20, check=False)
        text = run("--help").stdout
        for option in ["--input-style", "--lit-test", "--log", "--mlir", "--pretty", "--stdio"]:
            line = next(line for line in text.splitlines() if line.startswith("  " + option))
            self.assertIn("(default: ", line)
        self.assertRegex(run("--version").stdout, r"^skim-lsp-server \d+\.\d+\.\d+ \(LLVM 22")
        self.assertNotEqual(run("--nonsense").returncode, 0)
        self.assertEqual(run("--stdio").returncode, 1)  # the client left at once


if __name__ == "__main__":
    unittest.main()

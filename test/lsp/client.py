"""A client of skim-lsp-server over its standard streams, for the tests of this folder."""

import json
import subprocess

SERVER_NOT_INITIALIZED, INVALID_REQUEST, PARSE_ERROR = -32002, -32600, -32700
METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602


class Client:
    """Starts the server; `with` ends it, in order or by force."""

    def __init__(self, server, initialize=True, capabilities=None):
        self.process = subprocess.Popen([server], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next_id = 1
        self.published = {}  # the last diagnostics of each document
        self.messages = []  # other notifications
        if initialize:
            self.capabilities = self.request("initialize", {"capabilities": capabilities or {}})["capabilities"]
            self.notify("initialized", {})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send_text(self, text):
        body = text.encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send(self, message):
        self.send_text(json.dumps(message))

    def read(self):
        """The next message of the server; None at the end."""
        length = 0
        while True:
            line = self.process.stdout.readline()
            if not line:
                return None
            if line.startswith(b"Content-Length: "):
                length = int(line.split()[1])
            elif not line.strip():
                return json.loads(self.process.stdout.read(length))

    def read_answer(self, id):
        while True:
            message = self.read()
            assert message is not None, "the server ended"
            if "method" not in message:
                assert message["id"] == id, message
                return message
            if message["method"] == "textDocument/publishDiagnostics":
                self.published[message["params"]["uri"]] = message["params"]["diagnostics"]
            else:
                self.messages.append(message)

    def request_raw(self, method, params):
        id = self.next_id
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return self.read_answer(id)

    def request(self, method, params):
        answer = self.request_raw(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def error(self, method, params):
        answer = self.request_raw(method, params)
        assert "error" in answer, answer
        return answer["error"]["code"]

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def settle(self):
        """Waits until all that was sent has been worked on."""
        assert self.error("skim/unknown", {}) == METHOD_NOT_FOUND

    def open(self, uri, text, language="skim"):
        self.notify("textDocument/didOpen",
                    {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": text}})
        self.settle()
        return self.published.get(uri)

    def change(self, uri, text, version=2):
        self.notify("textDocument/didChange",
                    {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]})
        self.settle()
        return self.published[uri]

    def close(self, uri):
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.settle()
        return self.published.get(uri)

    def at(self, method, uri, line, character, **more):
        return self.request("textDocument/" + method,
                            {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}, **more})

    def hover(self, uri, line, character):
        found = self.at("hover", uri, line, character)
        return found and found["contents"]["value"]

    def end(self):
        """Ends the server as the protocol says; its exit code."""
        assert self.request("shutdown", None) is None
        self.notify("exit", None)
        return self.process.wait(timeout=10)


def place(text, marker, offset=0):
    """Line and character of the first `marker` in `text`, in UTF-16 units."""
    before = text[:text.index(marker) + offset]
    return before.count("\n"), len(before[before.rfind("\n") + 1:].encode("utf-16-le")) // 2

"""Documents of MLIR with the dialects of this project, beside documents of Skim: mlir.py SERVER"""

import os
import signal
import sys
import unittest

from client import INVALID_REQUEST, Client, place

SERVER = sys.argv.pop(1)


def children_of(pid):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                    if int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                        found.append(int(entry))
            except (FileNotFoundError, ProcessLookupError):
                pass
    return found


class Mlir(unittest.TestCase):
    def setUp(self):
        self.client = Client(SERVER)
        self.uri = "file:///somewhere/a.mlir"
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "dialect", "ops.mlir")
        with open(path, encoding="utf-8") as file:
            self.text = file.read().split("// -----")[0]

    def tearDown(self):
        self.assertEqual(self.client.end(), 0)
        self.client.__exit__()

    def test_our_dialects_are_known(self):
        self.assertIn("skim.pattern", self.text)
        self.assertEqual(self.client.open(self.uri, self.text, "mlir"), [])
        hover = self.client.hover(self.uri, *place(self.text, "\nskim.pattern @", 1))
        self.assertIn("skim.pattern", hover)

    def test_errors_by_extension_alone(self):
        found = self.client.open(self.uri, "func.func @f() {\n  skim.nonsense\n}\n", "")
        self.assertEqual([(d["range"]["start"]["line"], d["severity"]) for d in found], [(1, 1)])
        self.assertIn("skim.nonsense", found[0]["message"])
        self.assertEqual(self.client.change(self.uri, self.text), [])

    def test_verifiers_speak(self):
        found = self.client.open(self.uri, "skim.pattern @p() {\n}\n", "mlir")
        self.assertTrue(found)

    def test_definition_and_references(self):
        text = "func.func @f() -> i32 {\n  %x = arith.constant 1 : i32\n  return %x : i32\n}\n"
        self.client.open(self.uri, text, "mlir")
        found = self.client.at("definition", self.uri, *place(text, "%x : i32", 1))
        self.assertEqual([f["range"]["start"]["line"] for f in found], [1])
        found = self.client.at("references", self.uri, *place(text, "%x =", 1), context={"includeDeclaration": True})
        self.assertEqual(len(found), 2)

    def test_both_kinds_side_by_side(self):
        skim = "file:///somewhere/a.skim"
        self.assertEqual(len(self.client.open(skim, "pattern p { keep x }")), 1)
        self.assertEqual(len(self.client.open(self.uri, "nonsense", "mlir")), 1)
        self.assertIn("The pairs", self.client.hover(skim, 0, 13))
        self.assertEqual(self.client.close(self.uri), [])

    def test_a_killed_server_starts_again(self):
        self.assertEqual(self.client.open(self.uri, self.text, "mlir"), [])
        child, = children_of(self.client.process.pid)
        os.kill(child, signal.SIGKILL)
        answer = self.client.request_raw("textDocument/hover", {"textDocument": {"uri": self.uri},
                                                                "position": {"line": 0, "character": 0}})
        self.assertIn("ended", answer["error"]["message"])
        found = self.client.change(self.uri, "nonsense")
        self.assertEqual(len(found), 1)
        child, = children_of(self.client.process.pid)
        os.kill(child, signal.SIGKILL)
        self.client.notify("textDocument/didChange",
                           {"textDocument": {"uri": self.uri, "version": 3}, "contentChanges": [{"text": ""}]})
        self.client.settle()
        self.assertEqual([m["method"] for m in self.client.messages], ["window/showMessage"])

    def test_nothing_stays_behind(self):
        self.client.open(self.uri, self.text, "mlir")
        child, = children_of(self.client.process.pid)
        with Client(SERVER) as other:
            other.open(self.uri, self.text, "mlir")
            child, = children_of(other.process.pid)
            self.assertEqual(other.end(), 0)
        self.assertFalse(os.path.exists(f"/proc/{child}"))

    def test_shut_down_for_both(self):
        with Client(SERVER) as other:
            other.open(self.uri, self.text, "mlir")
            other.request("shutdown", None)
            self.assertEqual(other.error("textDocument/hover", {"textDocument": {"uri": self.uri},
                                                                "position": {"line": 0, "character": 0}}), INVALID_REQUEST)


if __name__ == "__main__":
    unittest.main()

"""What an editor sees of .skim documents: diagnostics, hovers, definitions, completion, symbols: documents.py SERVER"""

import os
import random
import sys
import tempfile
import unittest

from client import Client, place

SERVER = sys.argv.pop(1)

GOOD = """\
// Blocks by their mean key,
// beside a window.
pattern tuned(constexpr block: index = 64, alpha: f32 = 0.1, slope: f32[head] = 0.5, sink: index) {
  input layout: bool[kv_head, q / block, k / block]
  input picks: list[head, q / 128, k / 64]
  // Not far away.
  let near = q - k < 128
  let scores = dot(Q, mean(K, block))
  keep layout or picks or k < sink or near or top_k(scores, 8)
  skip 12.0 under max
  logit s - slope * (q - k) * alpha
}

pattern streaming(sink: index = 64, window: index = 4096) {
  keep k < sink or q - k < window
}

pattern both {
  keep streaming(sink: 128) and q % 2 == 0
}
"""
ERROR, WARNING, INFORMATION = 1, 2, 3


def range_of(text, marker, length=None):
    line, character = place(text, marker)
    return {"start": {"line": line, "character": character},
            "end": {"line": line, "character": character + (length or len(marker))}}


class Documents(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.client = Client(SERVER, capabilities={
            "textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}})
        self.uri = self.address("a.skim")

    def tearDown(self):
        self.assertEqual(self.client.end(), 0)
        self.client.__exit__()
        self.folder.cleanup()

    def address(self, name):
        return "file://" + os.path.join(self.folder.name, name)

    def hover(self, marker, offset=0, text=GOOD):
        return self.client.hover(self.uri, *place(text, marker, offset))

    def test_good_text_has_no_diagnostics(self):
        self.assertEqual(self.client.open(self.uri, GOOD), [])

    def test_several_errors_at_once_with_ranges(self):
        text = "pattern first {\n  keep windw < 3\n}\npattern second {\n  keep k < 64 or kv_len\n  logit s + oops\n}\n"
        found = self.client.open(self.uri, text)
        self.assertEqual([(d["severity"], d["range"]) for d in found],
                         [(ERROR, range_of(text, "windw")), (ERROR, range_of(text, "kv_len")),
                          (ERROR, range_of(text, "oops"))])
        self.assertIn("unknown name 'windw'", found[0]["message"])

    def test_change_publishes_anew(self):
        broken = GOOD.replace("or near", "or nearr")
        found = self.client.open(self.uri, broken)
        self.assertEqual([d["range"] for d in found if d["severity"] == ERROR], [range_of(broken, "nearr")])
        self.assertEqual(self.client.change(self.uri, GOOD), [])
        self.assertNotEqual(self.client.change(self.uri, "pattern", 3), [])
        self.assertEqual(self.client.close(self.uri), [])

    def test_syntax_errors_go_on(self):
        text = "pattern a {\n  keep k < \n  logit s +\n}\npattern b { keep true }\n"
        self.assertEqual(len(self.client.open(self.uri, text)), 2)

    def test_findings_of_passes(self):
        text = "pattern p {\n  let x = dot(Q, K)\n  keep x > 0.5 and match head { 1: true  2: false }\n}\n"
        found = self.client.open(self.uri, text)
        self.assertEqual([(d["severity"], d["range"]["start"]["line"]) for d in found], [(WARNING, 1), (ERROR, 2)])
        self.assertIn("expected an arm for each of the 1 heads", found[1]["message"])
        self.assertIn("score block means", found[0]["message"])

    def test_warnings_and_unused_names(self):
        text = "pattern p(spare: index = 1) {\n  keep true\n}\n"
        found = self.client.open(self.uri, text)
        self.assertEqual([(d["severity"], d["range"], d["tags"]) for d in found],
                         [(WARNING, range_of(text, "spare"), [1])])

    def test_constexpr_without_a_default_is_no_error(self):
        text = "pattern p(constexpr block: index, constexpr n: index) {\n" \
               "  keep top_k(smooth(dot(Q, mean(K, block)), n), 4)\n}\n"
        found = self.client.open(self.uri, text)
        self.assertEqual([d["severity"] for d in found], [INFORMATION, INFORMATION])
        self.assertIn("'n' has no default; the pattern was checked with 1", found[1]["message"])
        found = self.client.change(self.uri, text.replace("top_k(", "top_kk("))
        self.assertEqual([d["severity"] for d in found], [ERROR, INFORMATION, INFORMATION])

    def test_errors_behind_text_that_is_not_ascii(self):
        text = 'import "äö𝄞.skim" oops\npattern p { keep true }\n'
        found = self.client.open(self.uri, text)
        self.assertIn(range_of(text, "oops"), [d["range"] for d in found])

    def test_errors_of_imports_stand_at_the_import(self):
        with open(os.path.join(self.folder.name, "lib.skim"), "w", encoding="utf-8") as file:
            file.write("pattern lib {\n  keep k <\n}\n")
        text = 'import "lib.skim"\npattern p { keep lib() }\n'
        found = self.client.open(self.uri, text)
        self.assertEqual([d["range"] for d in found], [range_of(text, '"lib.skim"')])
        related = found[0]["relatedInformation"][0]["location"]
        self.assertEqual((related["uri"], related["range"]["start"]["line"]), (self.address("lib.skim"), 2))
        # The import is opened and mended in the editor, not on the disk.
        mended = "pattern lib {\n  keep k < 5\n}\n"
        self.assertEqual(self.client.open(self.address("lib.skim"), mended), [])
        self.assertEqual(self.client.published[self.uri], [])
        self.client.close(self.address("lib.skim"))
        self.assertEqual(len(self.client.published[self.uri]), 1)

    def test_errors_of_a_called_pattern_stand_at_the_call(self):
        with open(os.path.join(self.folder.name, "lib.skim"), "w", encoding="utf-8") as file:
            file.write("pattern lib(constexpr b: index) {\n"
                       "  keep dot(Q, mean(K, b)) > dot(Q, mean(K, 64))\n}\n")
        text = 'import "lib.skim"\npattern p { keep lib(32) }\n'
        found = self.client.open(self.uri, text)
        self.assertEqual([d["range"] for d in found], [range_of(text, "lib(32)")])
        self.assertEqual(found[0]["relatedInformation"][0]["location"]["uri"], self.address("lib.skim"))

    def test_hover_of_parameters(self):
        self.client.open(self.uri, GOOD)
        for marker, parts in {
                "sink: index)": ["sink: index", "parameter of `tuned`", "none, each launch must give it", "unit: tokens",
                                 "declared in line 3"],
                "block: index": ["constexpr block: index = 64", "fixed when the pattern is compiled",
                                 "default: `64`", "unit: tokens of a block"],
                "slope * (": ["`f32[head]`, one value for each query head", "default: `0.5`"],
                "window\n": ["window: index = 4096", "default: `4096`", "unit: tokens", "declared in line 14"],
                "sink: 128": ["sink: index = 64", "parameter of `streaming`", "unit: tokens"]}.items():
            for part in parts:
                self.assertIn(part, self.hover(marker), marker)

    def test_hover_of_values_and_inputs(self):
        self.client.open(self.uri, GOOD)
        for marker, parts in {
                "near or": ["let near = q - k < 128", "value of `tuned`: set over q - k", "Not far away.", "line 7"],
                "scores =": ["f32 over head, q, k / 64"],
                "layout or": ["input of `tuned`: bool over kv_head, q / 64, k / 64",
                              "uint8 [request, kv_head, q / block, k / block]"],
                "picks:": ["set over head, q / 128, k / 64", "int32", "capacity"],
                "streaming(sink: 128": ["pattern streaming(sink: index = 64, window: index = 4096)"],
                "tuned(": ["Blocks by their mean key,\nbeside a window."]}.items():
            for part in parts:
                self.assertIn(part, self.hover(marker), marker)

    def test_hover_of_words(self):
        self.client.open(self.uri, GOOD)
        for marker, part in {"mean(K": "one mean key for each block", "keep layout": "The pairs (q, k) to attend",
                             "constexpr": "Block sizes", "kv_head": "KV head", "Q,": "over `head, q`",
                             "max\n": "`skip`", "list[": "-1 as padding", "f32 =": "single precision",
                             "% 2": None, "2 == 0": None, "beside a": None}.items():
            found = self.hover(marker)
            if part is None:
                self.assertIsNone(found)
            else:
                self.assertIn(part, found, marker)

    def test_hover_survives_syntax_errors(self):
        broken = GOOD.replace("keep layout or", "keep layout or or")
        self.assertNotEqual(self.client.open(self.uri, broken), [])
        self.assertIn("f32 over head, q, k / 64", self.hover("scores =", text=broken))

    def test_definition(self):
        self.client.open(self.uri, GOOD)
        for use, offset, declaration in [("near or", 0, "near ="), ("block))", 0, "block:"), ("window\n", 0, "window: index = 4"),
                                         ("streaming(sink: 128", 0, "streaming(sink: index"),
                                         ("sink: 128", 0, "sink: index = 64")]:
            found = self.client.at("definition", self.uri, *place(GOOD, use, offset))
            self.assertEqual([f["range"]["start"] for f in found], [range_of(GOOD, declaration)["start"]], use)
        self.assertEqual(self.client.at("definition", self.uri, *place(GOOD, "mean(")), [])

    def test_definition_in_an_import(self):
        with open(os.path.join(self.folder.name, "lib.skim"), "w", encoding="utf-8") as file:
            file.write("// A library.\npattern lib { keep k < 5 }\n")
        text = 'import "lib.skim"\npattern p { keep lib() }\n'
        self.client.open(self.uri, text)
        found = self.client.at("definition", self.uri, *place(text, "lib()"))
        self.assertEqual([(f["uri"], f["range"]["start"]["line"]) for f in found], [(self.address("lib.skim"), 1)])
        found = self.client.at("definition", self.uri, *place(text, '"lib'))
        self.assertEqual([(f["uri"], f["range"]["start"]["line"]) for f in found], [(self.address("lib.skim"), 0)])
        self.assertIn("lib.skim, line 2", self.hover("lib()", text=text))

    def test_references(self):
        self.client.open(self.uri, GOOD)
        found = self.client.at("references", self.uri, *place(GOOD, "sink: index = 64"), context={"includeDeclaration": True})
        lines = [f["range"]["start"]["line"] for f in found]
        self.assertEqual(lines, [13, 14, 18])

    def labels(self, marker, offset, text=GOOD):
        found = self.client.at("completion", self.uri, *place(text, marker, offset))["items"]
        return {item["label"]: item for item in found}

    def test_completion(self):
        self.client.open(self.uri, GOOD)
        inside = self.labels("or near", 3)
        for name in ["block", "sink", "layout", "near", "streaming", "top_k", "kv_len", "and", "keep"]:
            self.assertIn(name, inside)
        self.assertIn("largest cells", inside["top_k"]["documentation"]["value"])
        self.assertNotIn("window", inside)  # of another pattern
        self.assertNotIn("tuned", inside)  # a pattern does not call itself
        self.assertNotIn("near", self.labels("q - k < 128", 0))  # not yet named
        self.assertIn("window:", self.labels("sink: 128", 0))
        self.assertIn("visible:", self.labels("Q, mean", 0))
        self.assertNotIn("keep", self.labels("Q, mean", 0))
        self.assertEqual(sorted(self.labels("bool[kv", 0)), ["bool", "f32", "index", "list", "vec"])
        self.assertEqual(sorted(self.labels("f32 = 0.1", 0)), ["bool", "f32", "index", "list", "vec"])
        self.assertEqual(self.labels("beside", 3), {})

    def test_symbols(self):
        self.client.open(self.uri, GOOD)
        found = self.client.request("textDocument/documentSymbol", {"textDocument": {"uri": self.uri}})
        self.assertEqual([s["name"] for s in found], ["tuned", "streaming", "both"])
        self.assertEqual([s["name"] for s in found[0]["children"]],
                         ["block", "alpha", "slope", "sink", "layout", "picks", "near", "scores"])
        self.assertEqual(found[1]["selectionRange"], range_of(GOOD, "streaming"))

    def test_repairs(self):
        text = "pattern p(block: index = 4) {\n  keep q / block == k / block or k < 4 and q - k <> 3\n}\n"
        self.client.open(self.uri, text)
        where = range_of(text, "<>")
        found = self.client.request("textDocument/codeAction", {
            "textDocument": {"uri": self.uri}, "range": where, "context": {"diagnostics": []}})
        self.assertEqual([f["edit"]["changes"][self.uri] for f in found], [[{"newText": "!=", "range": where}]])

    def test_empty_and_strange_texts(self):
        for version, text in enumerate(["", "\n", "\0", "pattern", "pattern p", '"', "//", "import", "keep", "{" * 5000,
                                        "pattern p { keep " + "(" * 5000, "pattern p { keep " + "not " * 5000 + "true }",
                                        "\u20ac" * 100, "pattern \u20ac { keep true }", "a" * 100_000,
                                        "pattern p { keep k < 1 }\n" * 2000, "x" * (1 << 20) + "x"]):
            self.client.open(self.uri, "")
            self.client.change(self.uri, text, version)
            for line, character in [(0, 0), (0, 5), (0, 10**6), (10**6, 0), (-1, -1)]:
                self.client.hover(self.uri, line, character)
                self.client.at("definition", self.uri, line, character)
                self.client.at("completion", self.uri, line, character)

    def test_damaged_patterns(self):
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples", "patterns")
        texts = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts.append(file.read())
        self.client.open(self.uri, "")
        choose = random.Random(1)
        words = ["(", ")", "{", "}", "[", ",", ":", "=", "-", "/", "%", "and", "not", "where", "match", "let", "keep", "input",
                 "pattern", "0", "64", "9999999999999999999", "q", "k", "Q", "K", "head", "top_k", "over", "\n", '"', "𝄞"]
        for version in range(200):
            text = choose.choice(texts)
            for _ in range(choose.randint(1, 4)):
                start = choose.randrange(len(text) + 1)
                text = text[:start] + choose.choice(["", " " + choose.choice(words) + " "]) + text[start + choose.choice([0, 1, 8]):]
            self.client.change(self.uri, text, version)
            at = choose.randrange(10), choose.randrange(60)
            self.client.hover(self.uri, *at)
            for request in ["definition", "completion", "references"]:
                self.client.at(request, self.uri, *at, context={"includeDeclaration": True, "triggerKind": 1})


if __name__ == "__main__":
    unittest.main()

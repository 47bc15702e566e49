"""Terminals that nobody here wrote, as judges of what is drawn: xterm.js without a page, and
pyte. Each says what it has after a stream, as one table."""

import base64
import codecs
import json
import subprocess

import pyte
from pyte import graphics
from pyte import modes as mo

from daemon import ROOT

# Differences that are told of one screen.
TOLD_MAX = 12

# Modes that both know, by what xterm.js calls them.
MODES = {
    "applicationCursorKeysMode": 1 << 5,
    "bracketedPasteMode": 2004 << 5,
    "insertMode": mo.IRM,
    "originMode": mo.DECOM,
    "sendFocusMode": 1004 << 5,
    "wraparoundMode": mo.DECAWM,
}

# Attributes that both know, by what each calls them.
ATTRIBUTES = {
    "bold": "bold",
    "italic": "italics",
    "underline": "underscore",
    "strikethrough": "strikethrough",
    "inverse": "reverse",
    "blink": "blink",
}


class Pyte:
    """pyte. It has no alternate screen, and knows less than what xterm.js does."""

    name = "pyte"

    def look(self, pieces, columns, rows):
        screen = pyte.Screen(columns, rows)
        stream = pyte.Stream(screen)
        # pyte ignores character sets where it decodes UTF-8 itself.
        stream.use_utf8 = False
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for piece in pieces:
            stream.feed(decoder.decode(piece))
        margins = screen.margins or (0, rows - 1)
        state = {
            "cursor": [screen.cursor.x, screen.cursor.y],
            "hidden": screen.cursor.hidden,
            "margins": list(margins),
            "tabs": sorted(stop for stop in screen.tabstops if 0 < stop < columns),
            "mouse": any((number << 5) in screen.mode for number in (1000, 1002, 1003)),
            "reverse screen": mo.DECSCNM in screen.mode,
        }
        state |= {name: mode in screen.mode for name, mode in MODES.items()}
        for row in range(rows):
            for column in range(columns):
                state[f"cell {row},{column}"] = self._cell(screen.buffer[row][column])
        return state

    @staticmethod
    def _cell(cell):
        flags = [name for name, own in ATTRIBUTES.items() if getattr(cell, own)]
        return seen(cell.data, cell.fg, cell.bg, flags)

    def of_xterm(self, state, drawn):
        """What xterm.js has, in the words of pyte, as far as pyte has words for it. A screen
        on which dark and light are exchanged is nothing that xterm.js knows of: pyte then
        says of every cell that it is inverse."""
        said = {name: state[name] for name in ("cursor", "hidden", "margins", "tabs", *MODES)}
        said["mouse"] = state["mouseTrackingMode"] != "none"
        every = ["inverse"] if drawn["reverse screen"] else []
        for name, cell in state.items():
            if name.startswith("cell "):
                text, ink, ground, flags, _ = cell
                flags = [flag for flag in ATTRIBUTES if flag in flags + every]
                ink = colour(ink, graphics.FG, graphics.FG_AIXTERM, 30)
                ground = colour(ground, graphics.BG, graphics.BG_AIXTERM, 40)
                said[name] = seen(text, ink, ground, flags)
        return said


class Xterm:
    """xterm.js, in a process of its own."""

    name = "xterm.js"

    def __init__(self):
        self.process = subprocess.Popen(
            ["node", str(ROOT / "tests/web/judge.mjs")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def look(self, pieces, columns, rows):
        pieces = [base64.b64encode(piece).decode() for piece in pieces]
        question = {"pieces": pieces, "columns": columns, "rows": rows}
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("xterm.js does not answer; hint: scripts/deps test")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


def seen(text, ink, ground, flags):
    """A cell as it looks: of a blank, only what shows without ink."""
    if text == " ":
        flags = [flag for flag in flags if flag in ("underline", "strikethrough", "inverse")]
        ink = ink if flags else "default"
    return [text, ink, ground, flags]


def colour(value, names, bright, base):
    """A colour of xterm.js as pyte says it: its kind (default, 16, 256, all) and number."""
    kind, number = value
    if kind == 0:
        return "default"
    if kind == 1:
        return names[base + number] if number < 8 else bright[base + 60 + number - 8]
    return graphics.FG_BG_256[number] if kind == 2 else f"{number:06x}"


def differences(what, live, drawn):
    """What the first has and the second has not, in words."""
    differing = [key for key in live if live[key] != drawn.get(key)]
    told = [f"{what}: {key}: live {live[key]}, drawn {drawn.get(key)}" for key in differing]
    more = len(told) - TOLD_MAX
    return told[:TOLD_MAX] + ([f"and {more} more"] if more > 0 else [])

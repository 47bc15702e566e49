"""A screen that is drawn for somebody who comes later is the one that those who were there
have: the same cells, colours, cursor and modes, in two terminals that are not ours, for the
screens of vttest and for programs that people use."""

import os
import queue
import threading
import time
import unittest
from pathlib import Path

from daemon import DEADLINE, Daemon, wire
from judges import Pyte, Xterm, differences

COLUMNS, ROWS = 80, 24

# A terminal that has said nothing for this long has probably said everything. It is only
# when to look: what does not agree is looked at again until it does.
REST_SECONDS = 0.05

# Typed into both terminals after they were compared: what they do with it depends on
# what cannot be seen, as margins, tabs, the pen, character sets and the saved cursor.
PROBES = [b"", b"q\tx\n\n\x1b[Hlqk\x1b8~\x0fa\x0eb"]


# The tests of vttest that are walked through, and how many screens each has at least.
MENUS = {1: 5, 2: 12, 4: 2, 8: 8}

# What vttest says where it wants to know what to test.
MENU = "Enter choice number"

# Screens of one of its tests.
SCREENS_MAX = 40

CODE = """#include <stdio.h>

/* A comment, a string and a number. */
int main(int count, char **words) {
	for (int at = 0; at < count; at++) printf("%d: %s\\n", at, words[at]);
	return 0x2a;
}
"""


class View:
    """A client of `Attach` that keeps what it is shown."""

    def __init__(self, shells, session, read_only=False):
        self.inputs = queue.Queue()
        opening = wire.AttachOpen(
            session_id=session, cols=COLUMNS, rows=ROWS, read_only=read_only
        )
        self.inputs.put(wire.AttachInput(open=opening))
        self.stream = shells.Attach(iter(self.inputs.get, None))
        self.bytes = bytearray()
        self.ready = threading.Event()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self):
        try:
            for told in self.stream:
                kind = told.WhichOneof("output")
                if kind == "data":
                    self.bytes += told.data
                elif kind == "ready":
                    self.ready.set()
        except Exception:
            # It was cancelled, or its session is over; what was shown is there.
            pass
        self.over.set()

    def type(self, keys):
        self.inputs.put(wire.AttachInput(data=keys.encode()))

    def close(self):
        self.stream.cancel()
        self.inputs.put(None)
        self.thread.join(DEADLINE)


class Screens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.shells = cls.daemon.shells
        cls.xterm = Xterm()
        cls.pyte = Pyte()

    @classmethod
    def tearDownClass(cls):
        cls.xterm.close()
        cls.daemon.stop()

    def open(self, **env):
        """A terminal with a shell, and somebody who was there from the beginning."""
        env = {"PS1": "> ", "LC_ALL": "C.UTF-8", **env}
        request = wire.CreateSessionRequest(
            working_directory=self.daemon.home,
            shell="bash",
            startup="none",
            mode=wire.SESSION_MODE_PTY,
            env=env,
        )
        self.session = self.shells.CreateSession(request).session_id
        self.view = View(self.shells, self.session)
        self.addCleanup(self.view.close)
        self.assertTrue(self.view.ready.wait(DEADLINE))

    def rest(self):
        """Waits until the terminal says nothing for a moment."""
        end = time.monotonic() + DEADLINE
        known = -1
        while known != len(self.view.bytes):
            self.assertLess(time.monotonic(), end, "it does not rest")
            known = len(self.view.bytes)
            time.sleep(REST_SECONDS)

    def drawn(self):
        late = View(self.shells, self.session, read_only=True)
        self.assertTrue(late.ready.wait(DEADLINE))
        late.close()
        return bytes(late.bytes)

    def same(self, what, judge_plain=False):
        """Checks that somebody who comes now sees what those see who were here."""
        end = time.monotonic() + DEADLINE
        while True:
            self.rest()
            live, drawn = bytes(self.view.bytes), self.drawn()
            told = self.differences(live, drawn, judge_plain)
            if not told:
                return
            # The program may have gone on in between; what does not agree then stays so.
            if live == bytes(self.view.bytes) and drawn == self.drawn():
                self.fail("\n".join([f"{what}:"] + told))
            self.assertLess(time.monotonic(), end, f"{what} does not rest")

    def differences(self, live, drawn, judge_plain):
        """xterm.js has the same after both, and pyte has the same after the drawing as
        xterm.js live; where pyte understands the program, also after both."""
        told = []
        for probe in PROBES:
            first, second = (self.look(self.xterm, stream, probe) for stream in (live, drawn))
            told += differences(f"xterm.js {probe}", first, second)
            if not probe:
                third = self.look(self.pyte, drawn, probe)
                told += differences("pyte", self.pyte.of_xterm(first, third), third)
            if judge_plain:
                first, second = (self.look(self.pyte, stream, probe) for stream in (live, drawn))
                told += differences(f"only pyte {probe}", first, second)
            if told:
                break
        return told

    def look(self, judge, stream, probe):
        return judge.look([stream, probe], COLUMNS, ROWS)

    def until(self, text, start=0):
        """Waits until the live stream has this text, which begins after `start`."""
        end = time.monotonic() + DEADLINE
        while text.encode() not in self.view.bytes[start:]:
            self.assertLess(time.monotonic(), end, f"no {text!r}: {bytes(self.view.bytes)[-2000:]}")
            time.sleep(0.005)

    def enter(self, keys, text):
        """Types, and waits for what that shows."""
        start = len(self.view.bytes)
        self.view.type(keys)
        self.until(text, start)

    def test_screens_of_vttest(self):
        """Cursor movements, screen features, double-sized characters, insert and delete."""
        for menu, least in MENUS.items():
            with self.subTest(menu=menu):
                self.open()
                self.enter(f"vttest {ROWS}x{COLUMNS}.{COLUMNS}\r", MENU)
                self.enter(f"{menu}\r", "RETURN")
                for number in range(SCREENS_MAX):
                    self.same(f"vttest {menu}, screen {number}")
                    if MENU.encode() in self.view.bytes[-len(MENU) - 10 :]:
                        break
                    self.view.type("\r")
                self.assertGreaterEqual(number, least, "screens were seen")

    def programs(self):
        """Programs that people use, each with keys, and what they show."""
        home = Path(self.daemon.home)
        text = "".join(f"line {number} wörld 世界 \t|\n" for number in range(1, 500))
        (home / "text").write_text(text)
        (home / "code.c").write_text(CODE)
        repository = " && ".join(
            ["rm -rf repo", "git init -q -b trunk repo", "cd repo"]
            + [f"git -c user.name=a -c user.email=b commit -q --allow-empty -m 'Number {n}'"
               for n in range(30)]
        )
        return {
            "vim": [
                ("vim -n -u NONE -N --cmd 'set mouse=a ruler hlsearch number' code.c\r", "main"),
                (":syntax on\r:vsplit\r/int\r", "int"),
                ("Vjj", "VISUAL"),
                ("\x1b:q\r:set list\riinserted", "inserted"),
                ("\x1b:q!\r", "> "),
            ],
            "less": [
                ("LESS= less -N text\r", "text"),
                ("/wörld\r", "line 1"),
                ("100g", "line 120"),
                ("q", "> "),
            ],
            "htop": [
                ("htop -d 100\r", "F10"),
                ("/", "Search"),
                ("\r", "F10"),
                ("q", "> "),
            ],
            "git": [
                (f"{repository}; clear; git -c color.ui=always log --graph --oneline --decorate"
                 " | cat; echo do''ne\r", "done"),
                ("git -c color.ui=always log --stat --graph\r", ":"),
                ("  ", ":"),
                ("q", "> "),
            ],
            "cargo": [
                ("cargo new --vcs none --color always made && cd made && sed -i '1i use x;'"
                 " src/main.rs; echo do''ne $?\r", "done 0"),
                ("cargo check --offline --color always; echo do''ne $?\r", "done 101"),
            ],
            "npm": [
                ("cd ~; echo '{\"name\": \"some\", \"version\": \"1.0.0\"}' > package.json;"
                 " npm --color=always --offline pack --dry-run; echo do''ne $?\r", "done 0"),
                ("npm --color=always nonsense; echo do''ne $?\r", "done 1"),
            ],
            "tmux": [
                ("env -u TMUX tmux -f /dev/null -S sock new 'cat text; sh'\r", "line 499"),
                ("\x02%\x02\"", "0:"),
                ("printf '\\033[1;44mblue'; seq 30\r", "30"),
                ("\x02d", "detached"),
                ("env -u TMUX tmux -S sock kill-server; echo do''ne\r", "done"),
            ],
        }

    def walk(self, name, steps, judge_plain=False, **env):
        """Takes a program through its steps."""
        with self.subTest(program=name, **env):
            self.open(**env)
            self.until("> ")
            for number, (keys, text) in enumerate(steps):
                self.enter(keys, text)
                self.same(f"{name}, step {number}", judge_plain)

    def test_programs_that_people_use(self):
        # Where the compiler is, which is found from a home that is not this one.
        home = Path("~").expanduser()
        rust = {"CARGO_HOME": str(home / ".cargo"), "RUSTUP_HOME": str(home / ".rustup")}
        rust = {name: os.environ.get(name, place) for name, place in rust.items()}
        for name, steps in self.programs().items():
            self.walk(name, steps, **rust)

    def test_programs_on_a_terminal_that_pyte_is(self):
        programs = self.programs()
        for name in ("vim", "less", "htop"):
            self.walk(name, programs[name], judge_plain=True, TERM="linux")


if __name__ == "__main__":
    unittest.main()

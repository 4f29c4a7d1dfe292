"""Draw docs/architecture.svg: the rooms of the house, and what flows between them.

    python docs/architecture.py          # writes the picture
    python docs/architecture.py --check  # fails if the picture is not up to date

Rooms and their order are read from the import contract in pyproject.toml, and what a room is for
from the docstring of its package: the picture cannot disagree with either.
"""

import ast
import sys
import textwrap
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "architecture.svg"
WIDTH, ROW, BOX, MARGIN = 980, 74, 56, 20
FLOWS = (  # from, to, what, and where the line runs
    ("algorithm", "acting", "a policy", 170),
    ("acting", "rollouts", "actions", 85),
    ("envs", "rollouts", "observations, rewards", 110),
    ("rollouts", "training", "Trajectories", 170),
    ("training", "algorithm", "learn: lines 6-12", 15),
    ("training", "files", "rows, checkpoints", 110),
    ("files", "report", "runs", 60),
)
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1a1a1a } .name { font-weight: 600 }
.about { font-size: 11px; fill: #555 } .flow { font-size: 11px; fill: #00695c }
rect { fill: #f4f7f7; stroke: #8aa; rx: 6 } path { fill: none; stroke: #00897b; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) { text { fill: #eee } .about { fill: #aaa }
.flow { fill: #80cbc4 } rect { fill: #263238; stroke: #607d8b } path { stroke: #4db6ac } }
"""


def layers() -> list[list[str]]:
    """The rows of the import contract, top to bottom."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    rows = next(one["layers"] for one in contracts if one["id"] == "layers")
    return [[name.strip() for name in row.split("|")] for row in rows]


def purpose(room: str) -> str:
    """The first sentence of the docstring of a package or a module."""
    path = ROOT / "src" / "mppo" / room
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text())) or ""
    return text.split("\n\n")[0].replace("\n", " ")


def boxes(rows: list[list[str]]) -> dict[str, tuple[float, float, float]]:
    """Left edge, top edge and width of the box of each room."""
    placed = {}
    left, inner = 250, WIDTH - 250 - MARGIN
    for y, row in enumerate(rows):
        width = (inner - 12 * (len(row) - 1)) / len(row)
        for x, room in enumerate(row):
            placed[room] = (left + x * (width + 12), MARGIN + y * ROW, width)
    return placed


def _free_height(placed: dict, used: dict[str, int], room: str) -> int:
    """The next height at which a line may touch the box of a room."""
    used[room] = used.get(room, 0) + 1
    return placed[room][1] + 14 * used[room]


def picture() -> str:
    """The picture as SVG; the same bytes always."""
    rows = layers()
    placed = boxes(rows)
    height = MARGIN * 2 + ROW * len(rows) - (ROW - BOX)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="The rooms of mppo, top to bottom, and what flows between them">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="end" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto">'
        '<path d="M0,0 L6,3 L0,6" /></marker></defs>',
    ]
    for room, (x, y, width) in placed.items():
        folder = (ROOT / "src" / "mppo" / room).is_dir()
        parts.append(f'<rect x="{x:g}" y="{y}" width="{width:g}" height="{BOX}" />')
        name = f"{room}/" if folder else f"{room}.py"
        parts.append(f'<text class="name" x="{x + 10:g}" y="{y + 18}">{name}</text>')
        for n, line in enumerate(textwrap.wrap(purpose(room), int(width / 5.9))[:2]):
            parts.append(
                f'<text class="about" x="{x + 10:g}" y="{y + 34 + 14 * n}">{escape(line)}</text>'
            )
    used: dict[str, int] = {}
    for start, end, what, lane in FLOWS:
        y1, y2 = (_free_height(placed, used, room) for room in (start, end))
        parts.append(
            f'<path d="M250,{y1} H{lane} V{y2} H246" marker-end="url(#end)" />'
            f'<text class="flow" x="{lane + 5}" y="{y2 - 4}">{escape(what)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PICTURE.read_text() == picture() else "docs/architecture.svg is out of date")
    PICTURE.write_text(picture())

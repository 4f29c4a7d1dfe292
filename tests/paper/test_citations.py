"""What is said to stand in a section, an equation or a figure of the paper stands there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [Path(__file__).parents[i] / "shared" / "paper.tex" for i in (2, 3, 4)]
SOURCE = next((path for path in SOURCES if path.exists()), None)
needs_source = pytest.mark.skipif(SOURCE is None, reason="the paper's source is not here")

SECTIONS = {  # title, and words of which a sentence that cites it must have one
    "3.1": ("A Motivating Example", ("goal", "destination", "explores", "motivating example")),
    "4.1": ("Experimental Setup", ("seeds", "episodes", "upright")),
    "4.3": ("Ablation Study", ("K =", "K=", "every K", "alpha", "memory")),
    "4.4": (
        "Performance Comparison",
        ("Table 1", "Figure 7", "Effect of each component", "Performance based on PPO"),
    ),
    "B.1": ("Environments", ("Gym", "upright", "cosine", "multiple meters")),
    "B.2": ("Hyperparamters", ("network",)),
    "C": ("Memory Consumption", ("memory", "K of the ablation")),
}
EQUATIONS = {  # label, and words as above
    1: ("trpo_obj", ("surrogate", "objective", "gain", "advantage", "measured of a policy")),
    2: ("eq:trpo_program", ("KL", "delta", "max_kl", "δ")),
    3: ("eq:ppo", ("clipped",)),
    4: ("eq:criterion", ("score", "rolled out next")),
    5: ("eq:normalized_J_H", ("max - min", "equal values", "normalise", "rolled out next")),
    6: (None, ("line search", "Fisher", "conjugate")),
}
FIGURES = {  # label, and words
    2: ("fig:maze", ("maze", "learns faster")),
    3: ("fig:state_vis", ("method", "maze")),
    4: ("fig:selected_policy", ("pick", "maze")),
    5: ("fig:ablation_k", ("K of", "several K", "varying K", "paths K", "the ablation")),
    6: ("fig:ablation_alpha", ("alpha", "weight of entropy")),
    7: ("fig:trpo", ("method", "MP-TRPO", "Section 4.4")),
    8: ("fig:ppo", ("method", "MP-PPO")),
    9: ("fig:vis", ("pick", "maze")),
}
TEXTS = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]


def cited(pattern):
    """Where the paper is cited: the place, what is cited, and the words around."""
    for path in TEXTS:
        text = path.read_text()
        for found in re.finditer(pattern, text):
            start = text.rfind("\n", 0, max(found.start() - 100, 0)) + 1
            end = f"{text}\n".find("\n", min(found.end() + 60, len(text)))
            line = text[: found.start()].count("\n") + 1
            yield f"{path.relative_to(ROOT)}:{line}", found.group(1), text[start:end].lower()


def strangers(pattern, known):
    """Citations of what is not known, or beside none of its words."""
    found = list(cited(pattern))
    assert len(found) >= len(known)
    return [
        (place, number)
        for place, number, around in found
        if number not in known or not any(word.lower() in around for word in known[number][1])
    ]


def test_sections_are_cited_for_what_they_say():
    """Seeds are in 4.1, K and alpha in 4.3: no section is cited for another's words."""
    assert strangers(r"(?:[Ss]ection|[Aa]ppendix) (\d\.\d|[A-C](?:\.\d)?)\b", SECTIONS) == []


def test_equations_are_cited_for_what_they_say():
    known = {str(number): entry for number, entry in EQUATIONS.items()}
    assert strangers(r"Eq\. \(?(\d+)\)?", known) == []


def test_figures_are_cited_for_what_they_show():
    known = {str(number): entry for number, entry in FIGURES.items()}
    assert strangers(r"\b[Ff]igure (\d)", known) == []


def numbered(source):
    """Titles by the numbers that LaTeX gives to sections."""
    titles, section, sub, letters = {}, 0, 0, False
    for kind, title in re.findall(r"\\(appendix|section|subsection)\b(?:\{([^}]*)\})?", source):
        if kind == "appendix":
            section, letters = 0, True
        elif kind == "section":
            section, sub = section + 1, 0
            titles[chr(64 + section) if letters else str(section)] = title
        else:
            sub += 1
            titles[f"{chr(64 + section) if letters else section}.{sub}"] = title
    return titles


@needs_source
def test_the_numbers_are_those_of_the_paper():
    assert SOURCE is not None
    source = SOURCE.read_text()
    titles = numbered(source)
    assert {number: titles[number] for number in SECTIONS} == {
        number: title for number, (title, _) in SECTIONS.items()
    }
    displays = re.findall(r"\\begin\{(equation|align)\}(.*?)\\end\{\1\}", source, re.S)
    labels = []
    for kind, body in displays:
        rows = re.split(r"\\\\\s*\n", body) if kind == "align" else [body]
        labels += [re.search(r"\\label\{([^}]*)\}", row) for row in rows]
    assert len(labels) == 12
    found = [label and label.group(1) for label in labels[: len(EQUATIONS)]]
    assert found == [label for label, _ in EQUATIONS.values()]
    figures = re.findall(r"\\begin\{figure\*?\}.*?\\label\{([^}]*)\}", source, re.S)
    assert figures[1:] == [label for label, _ in FIGURES.values()]  # the first is the schematic

"""The dossier in a browser: nothing clipped, on screen, phone and paper; keyboard; hostile text."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ligen_py import aggregate, report
from tests.chromium import Tab, browser, opened
from tests.edited import edited
from tests.placed import started
from tests.stages.factory import Molecule, prepared, write_manifest, write_part

HOSTILE = (
    '"><img src=x onerror=alert(1)><script>alert(1)</script>',
    "</script><script>alert(2)</script>",
    "{{ 7 * 7 }} ${7*7} <!-- &amp; ' \" \\u003c",
    "averylongnamewithoutanyplacewhereitcouldbebroken" * 4,
    "العربية 中文 \u202e reversed",
)
VENDOR = json.dumps({"price": "12 USD", "<b>id</b>": "<i onmouseover=alert(3)>Z-1</i>"})

SMILES = (
    "CCCCCCCCCC",
    "OC(=O)c1ccccc1O",
    "CC(=O)Nc1ccc(O)cc1",
    "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "c1ccc2c(c1)[nH]cc2CCN",
    "COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC",
    "Clc1ccc(cc1)C(c1ccccc1)N1CCN(CC1)CCOCC(=O)O",
    "CC(N)Cc1ccccc1",
    "NS(=O)(=O)c1ccccc1",
    "O=C1C=CC(=O)C=C1",
    "C1CCCCC1",
)
REFERENCE = "CC(=O)c1ccc(OCC)cc1"

CLIPPED = """(() => {
  const rolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);
  const scrolls = (e) => e && (rolls(e) || scrolls(e.parentElement));
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    const style = getComputedStyle(e);
    if (!e.clientWidth || style.display === "inline" || style.position === "absolute") continue;
    if (e.closest("svg, script, style, select, input, .hits thead")) continue;
    if (e.scrollWidth > e.clientWidth + 1 && !scrolls(e)) {
      const words = e.textContent.trim().slice(0, 60);
      found.push(`${e.tagName}.${e.className} ${e.scrollWidth} > ${e.clientWidth}: ${words}`);
    }
  }
  const page = document.scrollingElement;
  if (page.scrollWidth > page.clientWidth + 1) found.push(`the page: ${page.scrollWidth}`);
  return found;
})()"""
"""Elements whose content is wider than they are, and that do not scroll."""

CONTRAST = """(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => {
    const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = c.slice(0, 3).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const found = {};
  for (const e of document.querySelectorAll("main *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest("svg, script, option") || !e.clientWidth) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found[e.tagName + "." + e.className] = ratio;
  }
  return found;
})()"""
"""Texts whose contrast is below WCAG's AA."""

INK = """(() => {
  const c = document.querySelector("canvas");
  const often = { willReadFrequently: true };
  const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", often);
  copy.drawImage(c, 0, 0);
  const d = copy.getImageData(0, 0, c.width, c.height).data;
  const colours = new Map();
  let drawn = 0, sum = 0;
  for (let i = 0; i < d.length; i += 4) {
    if (d[i + 3] > 200) {
      drawn++;
      sum = (sum * 31 + d[i] + 7 * d[i + 1] + 13 * d[i + 2] + i) % 1000000007;
      const key = d[i] >> 5 << 6 | d[i + 1] >> 5 << 3 | d[i + 2] >> 5;
      colours.set(key, (colours.get(key) || 0) + 1);
    }
  }
  const many = [...colours.values()].filter((n) => n > 50).length;
  return { share: drawn / (d.length / 4), colours: many, sum };
})()"""
"""How much of the canvas is drawn, in how many colours, and a checksum of the picture."""


def molecules() -> list[Molecule]:
    names = [*HOSTILE, *(f"m{i}" for i in range(len(SMILES)))]
    pairs = enumerate(zip(names, SMILES, strict=False))
    return [
        Molecule(name, smiles, 9.0 - 0.5 * i, extra=VENDOR if i % 2 else "")
        for i, (name, smiles) in pairs
    ]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two targets, one with a crystal ligand and a genetic algorithm's clusters."""
    folder = tmp_path_factory.mktemp("page")
    crystal = folder / "crystal.sdf"
    from rdkit import Chem

    mol = started(prepared(REFERENCE).states[0].shape)
    crystal.write_text(Chem.MolToMolBlock(mol))
    parts = [
        write_part(folder, "alpha", "lib", "1-of-1", molecules()),
        write_part(folder, "beta", "lib", "1-of-1", molecules()),
        write_part(
            folder, "alpha", "control-alpha", "1-of-1", [Molecule("REF", REFERENCE, 6.2)],
            crystal=crystal,
        ),
    ]  # fmt: skip
    manifest = write_manifest(folder / "manifest.tsv", parts)
    campaign, output = folder / "campaign.h5", folder / "report.html"
    flags = ["--manifest", str(manifest), "--output", str(campaign), "--quiet"]
    assert aggregate.main(flags) == 0
    with edited(campaign) as file:
        file["targets/alpha/top/clusters"][0] = json.dumps([[-9.4, -9.1, 40], [-8.25, -8.25, 1]])
    groups = json.dumps({"actives": ["m6", "m7", "m8", "m9", "m10", "gone"]})
    assert report.main(
        ["--campaign", str(campaign), "--output", str(output), "--groups", groups, "--jobs", "1"]
    ) == 0  # fmt: skip
    return output


@pytest.fixture(scope="module")
def tab(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with opened(tmp_path_factory.mktemp("profile")) as tab:
        tab.resize(1360)
        tab.emulate()
        tab.open(page)
        yield tab


@pytest.fixture(autouse=True)
def _screen(request: pytest.FixtureRequest) -> None:
    """Every test begins with the page as it opens on a wide, light screen."""
    if "tab" in request.fixturenames:
        browser()
        tab: Tab = request.getfixturevalue("tab")
        tab.emulate()
        tab.resize(1360)
        tab.open(request.getfixturevalue("page"))


def test_it_opens_without_a_complaint_and_runs_nothing_of_the_data(tab: Tab) -> None:
    assert tab.run("document.documentElement.dataset.ready") == "yes"
    assert tab.complaints() == []
    assert tab.run("document.querySelectorAll('img, main script:not([type])').length") == 0
    names = tab.run(
        "[...document.querySelectorAll('#target-1 ~ * .hits .open')].map(b => b.textContent)"
    )
    assert set(HOSTILE[:4]) <= set(names)
    assert "49" not in names[2]


@pytest.mark.parametrize(("width", "media"), [(1000, "screen"), (320, "screen"), (703, "print")])
def test_long_names_of_targets_libraries_and_groups_are_broken(
    tab: Tab, tmp_path: Path, width: int, media: str
) -> None:
    long = "averylongnamewithoutanyplacewhereitcouldbebroken"
    parts = [
        write_part(tmp_path, f"{long}{n}", f"{long}_library", "1-of-1", molecules()) for n in "12"
    ]
    manifest = write_manifest(tmp_path / "manifest.tsv", parts)
    campaign, output = tmp_path / "campaign.h5", tmp_path / "report.html"
    flags = ["--manifest", str(manifest), "--output", str(campaign), "--quiet"]
    assert aggregate.main(flags) == 0
    flags = ["--campaign", str(campaign), "--output", str(output), "--jobs", "1"]
    assert report.main([*flags, "--groups", json.dumps({f"{long}_group": ["m6", "m7"]})]) == 0
    tab.emulate(media)
    tab.resize(width)
    tab.open(output)
    tab.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert tab.run(CLIPPED) == []


@pytest.mark.parametrize(
    ("width", "media", "scheme"),
    [
        (1360, "screen", "light"),
        (1360, "screen", "dark"),
        (1240, "screen", "light"),  # the narrowest that has a table
        (1100, "screen", "light"),
        (768, "screen", "light"),
        (390, "screen", "dark"),
        (320, "screen", "light"),
        (703, "print", "light"),  # A4 without its margins
        (725, "print", "dark"),  # Letter; paper is white whatever the screen
    ],
)
def test_no_text_is_clipped_and_all_is_readable(
    tab: Tab, width: int, media: str, scheme: str
) -> None:
    tab.emulate(media, scheme)
    tab.resize(width, mobile=width < 500)
    tab.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert tab.run(CLIPPED) == []
    assert tab.run(CONTRAST) == {}


def test_screenshots_show_the_pose_in_the_scheme(tab: Tab) -> None:
    image = pytest.importorskip("PIL.Image")
    light = {}
    for scheme in ("light", "dark"):
        tab.emulate(scheme=scheme)
        tab.run("document.querySelector('canvas').scrollIntoView({behavior: 'instant'})")
        tab.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        shot = image.open(io.BytesIO(tab.screenshot())).convert("L")
        light[scheme] = sum(shot.resize((64, 64)).tobytes()) / 64**2
        ink = tab.run(INK)
        assert 0.01 < ink["share"] < 0.6
        assert ink["colours"] >= 4
    assert light["light"] > 220
    assert light["dark"] < 70


def test_mouse_and_keys_turn_and_zoom_the_pose(tab: Tab) -> None:
    tab.run("document.querySelector('canvas').scrollIntoView({behavior: 'instant'})")
    box = tab.run(
        "(b => [b.x + b.width / 2, b.y + b.height / 2])"
        "(document.querySelector('canvas').getBoundingClientRect())"
    )
    seen = [tab.run(INK)["sum"]]
    tab.mouse("mousePressed", *box)
    tab.mouse("mouseMoved", box[0] + 60, box[1] + 20)
    tab.mouse("mouseReleased", box[0] + 60, box[1] + 20, buttons=0)
    seen.append(tab.run(INK)["sum"])
    tab.mouse("mouseWheel", *box, button="none", buttons=0, deltaX=0, deltaY=-200)
    tab.run("new Promise(done => setTimeout(done, 100))")
    seen.append(tab.run(INK)["sum"])
    tab.run("document.querySelector('canvas').focus()")
    for key, code in (("ArrowLeft", 37), ("+", 187), ("l", 76), ("s", 83)):
        tab.press(key, code)
        seen.append(tab.run(INK)["sum"])
    assert len(set(seen)) == len(seen)
    pressed = "document.querySelector(\"[data-do='reference']\").getAttribute('aria-pressed')"
    tab.run("document.querySelector('.hits tr.ref .open').click()")
    docked = tab.run(INK)["sum"]
    tab.run("document.querySelector('canvas').focus()")
    for key, code in (("0", 48), ("c", 67)):
        tab.press(key, code)
        seen.append(tab.run(INK)["sum"])
    assert tab.run(pressed) == "true"
    assert len({docked, *seen[-2:]}) == 3
    tab.run("document.querySelector('.hits .open').click()")
    tab.run("document.querySelector('canvas').focus()")
    tab.press("n", 78)
    assert tab.run("document.querySelector('.hits tr.on').dataset.i") == "1"
    tab.press("p", 80)
    assert tab.run("document.querySelector('.hits tr.on').dataset.i") == "0"
    for chosen in (".hits .open", ".clusters a"):  # what was chosen has the keys
        tab.run("document.activeElement.blur()")
        tab.run(f"document.querySelector('{chosen}').click()")
        tab.run("new Promise(done => setTimeout(done, 100))")
        tab.press("n", 78)
        assert tab.run("document.querySelector('.hits tr.on').dataset.i") == "1"
    assert tab.complaints() == []


def test_every_colour_of_a_line_has_a_meaning(tab: Tab) -> None:
    """The legend has the colours of the picture, on a dark screen and on paper, too."""
    for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
        tab.emulate(media, scheme)
        found = tab.run("""(() => {
          const pen = new OffscreenCanvas(1, 1).getContext("2d");
          const plain = (colour) => { pen.fillStyle = colour; return pen.fillStyle; };
          const { kinds } = dossiers[0].data, { contact } = dossiers[0].viewer.colours();
          const keys = [...dossiers[0].section.querySelectorAll(".stage .key b")];
          const told = keys.map(b => [b.nextSibling.data.trim(), plain(getComputedStyle(b).color)]);
          const letters = Object.keys(kinds).filter(letter => letter !== "h");
          return [told, letters.map(letter => [kinds[letter], plain(contact(letter))])];
        })()""")
        assert sorted(found[0]) == sorted(found[1]) != []


def test_a_hit_without_an_analysis_shows_no_other_ones_pose(tab: Tab) -> None:
    assert tab.run(INK)["share"] > 0
    tab.run("dossiers[0].data.hits[1].e = []; dossiers[0].open(1)")
    tab.run("document.querySelector('[data-do=reset]').click()")
    assert tab.run(INK)["share"] == 0
    tab.run("document.querySelector('[data-do=next]').click()")
    assert tab.run(INK)["share"] > 0
    assert tab.complaints() == []


def test_a_target_without_hits_leaves_the_others_alive(tab: Tab, tmp_path: Path) -> None:
    parts = [
        write_part(tmp_path, "none", "lib", "1-of-1", [Molecule("m", "CCO", None)]),
        write_part(tmp_path, "one", "lib", "1-of-1", [Molecule("m", "CCO", 3.0)]),
    ]
    manifest = write_manifest(tmp_path / "manifest.tsv", parts)
    campaign, output = tmp_path / "campaign.h5", tmp_path / "report.html"
    flags = ["--manifest", str(manifest), "--output", str(campaign), "--quiet"]
    assert aggregate.main(flags) == 0
    flags = ["--campaign", str(campaign), "--output", str(output), "--jobs", "1"]
    assert report.main(flags) == 0
    tab.open(output)
    assert tab.complaints() == []
    assert tab.run("document.documentElement.dataset.ready") == "yes"
    assert tab.run(INK)["share"] > 0


def test_everything_that_can_be_clicked_is_reached_by_the_tabulator(tab: Tab) -> None:
    wanted = tab.run(
        "document.querySelectorAll('#target-1, section.target')[0] && "
        "document.querySelectorAll("
        "'a[href], button:not([hidden], .sort), input, select:not(.sort *), canvas, summary'"
        ").length"
    )
    reached = set()
    for _ in range(wanted + 5):
        tab.press("Tab", 9)
        reached.add(tab.run("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
        outline = tab.run(
            "document.activeElement === document.body || "
            "getComputedStyle(document.activeElement).outlineStyle !== 'none'"
        )
        assert outline
    hidden = tab.run(
        "[...document.querySelectorAll('details:not([open]) > *:not(summary)')]"
        ".flatMap(e => [...e.querySelectorAll('a[href], button')]).length"
    )
    assert len(reached) >= wanted - hidden


def shown(tab: Tab) -> list[int]:
    return [
        int(number)
        for number in tab.run(
            "[...document.querySelector('.hits tbody').rows].filter(r => !r.hidden)"
            ".map(r => r.dataset.i)"
        )
    ]


def test_the_list_sorts_by_every_column_and_back(tab: Tab) -> None:
    start = shown(tab)
    heads = tab.run("document.querySelectorAll('.hits')[0].querySelectorAll('thead button').length")
    for number in range(heads):
        pick = f"document.querySelectorAll('.hits')[0].querySelectorAll('thead button')[{number}]"
        tab.run(f"{pick}.focus()")
        tab.press("Enter", 13, "\r")
        order = tab.run(f"{pick}.closest('th').getAttribute('aria-sort')")
        assert order == ("descending" if number == 0 else tab.run(
            f"{pick}.closest('th').dataset.first === 'up' ? 'ascending' : 'descending'"
        ))  # fmt: skip
        assert sorted(shown(tab)) == sorted(start)
    tab.run("document.querySelector('.hits thead button').click()")
    assert shown(tab) == start
    weights = tab.run(
        "(() => { [...document.querySelectorAll('.hits thead button')]"
        ".find(b => b.textContent === 'MW').click();"
        "return [...document.querySelector('.hits tbody').rows]"
        ".map(r => Number(r.querySelector(\"[data-l='MW']\").textContent)); })()"
    )
    assert weights == sorted(weights)


def test_a_narrow_screen_has_another_way_to_sort(tab: Tab) -> None:
    start = shown(tab)
    choice = "document.querySelector(\"[data-part='sort']\")"
    assert not tab.run(f"{choice}.clientHeight")
    titles = tab.run("[...document.querySelector('.hits thead').querySelectorAll('button')]"
                     ".map(b => b.textContent)")  # fmt: skip
    tab.resize(390, mobile=True)
    assert tab.run(f"{choice}.clientHeight")
    assert tab.run(f"[...{choice}.options].map(o => o.value)") == titles
    for title, order in (("strain", "ascending"), ("score", "descending"), ("rank", "ascending")):
        tab.run(f"{choice}.value = '{title}'; {choice}.dispatchEvent(new Event('change'))")
        sorted_by = "[...document.querySelectorAll('.hits')[0].querySelectorAll('th[aria-sort]')]"
        sorted_by += ".filter(h => h.getAttribute('aria-sort') !== 'none')"
        found = tab.run(f"{sorted_by}.map(h => [h.textContent.trim(), h.ariaSort])")
        assert found == [[title, order]]
    assert shown(tab) == start
    tab.run("document.querySelector(\"[data-part='reverse']\").click()")
    assert tab.run(f"{sorted_by}.map(h => [h.textContent.trim(), h.ariaSort])") == [
        ["rank", "descending"]
    ]
    ranks = tab.run(
        "[...document.querySelector('.hits tbody').rows].map(r => r.children[0].dataset.v"
        " ?? r.children[0].textContent.trim()).map(Number)"
    )
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] > ranks[-1]
    tab.run("document.querySelector(\"[data-part='reverse']\").click()")
    assert shown(tab) == start
    tab.run("document.querySelector('.hits thead button').click()")
    assert tab.run(f"{choice}.value") == "rank"


def test_search_and_filters_leave_what_is_asked_for(tab: Tab) -> None:
    def put(part: str, value: str) -> None:
        tab.run(
            f"(e => {{ e.value = {json.dumps(value)}; e.dispatchEvent(new Event('input')); }})"
            f"(document.querySelector(\"[data-part='{part}']\"))"
        )

    every = shown(tab)
    put("search", "ALERT(2)")
    (found,) = shown(tab)
    data = tab.run("document.querySelector('section.target script').textContent")
    hits = json.loads(data)["hits"]
    assert hits[found]["n"] == HOSTILE[1]
    tab.run("dossiers[0].data.hits[3].n = 'caf\u0065\u0301 \u06a9\u062a\u0627\u0628 \u0647\u0627'")
    tab.run("dossiers[0].words[3] = dossiers[0].wordsOf(3)")
    for same in (
        "caf\u00e9",
        "CAF\u00c9",
        "cafe\u0301",
        "\u06a9\u062a\u0627\u0628\u200c\u0647\u0627",
    ):
        put("search", same)  # composed letters or not; a joiner, which the page cannot show
        assert shown(tab) == [3]
    none = "document.querySelector(\"[data-part='none']\").hidden"
    assert tab.run(none)
    put("search", "no such molecule")
    assert (shown(tab), tab.run(none)) == ([], False)
    put("search", "12 usd")
    assert shown(tab) == [i for i in every if hits[i]["vendor"]]
    # An exported table has the neutral parent beside the docked state: either finds the hit.
    docked = "dossiers[0].data.hits[2].state = '[O-]'"
    tab.run(f"{docked}; dossiers[0].words[2] = dossiers[0].wordsOf(2)")
    put("search", hits[2]["parent"])
    assert shown(tab) == [2]
    put("search", "")
    put("least-weight", "160")
    put("most-weight", "250")
    assert shown(tab) == [i for i in every if 160 <= hits[i]["weight"] <= 250]
    put("least-weight", "")
    tab.run("dossiers[0].data.hits[0].weight = null")  # a hit that could not be analysed
    put("most-weight", "5000")
    assert shown(tab) == [i for i in every if i != 0]
    put("most-weight", "")
    put("least-score", "6")
    assert shown(tab) == [i for i in every if hits[i]["s"] >= 6]
    assert "of" in tab.run("document.querySelector(\"[data-part='count']\").textContent")
    put("least-score", "")
    tab.run("document.querySelector(\"[data-part='undoubted']\").click()")
    assert shown(tab) == [i for i in every if not hits[i]["doubts"]]


def test_limits_part_nothing_that_looks_equal(tab: Tab) -> None:
    """In the data is what the list shows, of which a reader takes a limit."""
    for label, name in (("score", "s"), ("MW", "weight")):
        of_row = f"r => Number(r.querySelector(\"[data-l='{label}']\").innerText)"
        of_data = f"r => dossiers[0].data.hits[r.dataset.i].{name}"
        listed, known = (tab.run(f"dossiers[0].rows.map({one})") for one in (of_row, of_data))
        assert listed == known


def test_the_filter_by_residues_offers_what_hits_are_bound_by(tab: Tab) -> None:
    found = tab.run("""(() => {
      const d = dossiers[0], hits = d.data.hits.filter(hit => !hit.reference);
      const bound = hits.flatMap(hit => hit.c).filter(c => c[0] !== "h");
      const offered = [...d.find("residue").options].slice(1).map(o => o.value);
      return [offered, bound.map(c => d.data.names[c[1]])];
    })()""")
    assert sorted(found[0]) == sorted(set(found[1]))


def test_what_fits_can_be_ticked_and_saved(tab: Tab, page: Path) -> None:
    def saved() -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(tab.run("dossiers[0].csv()"))))

    data = json.loads(tab.run("document.querySelector('section.target script').textContent"))
    hits, every = data["hits"], shown(tab)
    assert [row["name"].lstrip("'") for row in saved()] == [hits[i]["n"] for i in every]
    first = saved()[0]
    assert (first["rank"], first["SMILES"]) == ("1", hits[every[0]]["parent"])
    assert first["doubts"] == "; ".join(hits[every[0]]["doubts"])
    assert {"score", "gap", "strain", "MW", "logP", "alerts", "checks", "library"} <= first.keys()
    offer = next(hit["vendor"] for hit in hits if hit["vendor"])
    assert {row[offer[0][0]] for row in saved()} == {"", offer[0][1]}
    assert not any(value.startswith("=") for row in saved() for value in row.values())
    box = "document.querySelectorAll('.hits')[0].querySelectorAll('.tick input')[1]"
    tab.run(f"{box}.click()")
    tab.run("document.querySelector(\"[data-part='ticked']\").click()")
    (only,) = shown(tab)
    (row,) = saved()
    assert (row["name"].lstrip("'"), row["ticked"]) == (hits[only]["n"], "yes")
    tab.run("dossiers[0].save()")
    tab.open(page)
    assert tab.run(f"{box}.checked")
    tab.run(f"{box}.click()")
    assert not any(row["ticked"] for row in saved())


def test_no_two_columns_of_the_saved_table_have_one_name(tab: Tab, page: Path) -> None:
    given = {"score": "1", "input.score": "2", "input.input.score": "3", "input.price": "4"}
    tab.run(f"dossiers[0].data.hits[0].vendor = {json.dumps(list(given.items()))}")
    head, *rows = csv.reader(io.StringIO(tab.run("dossiers[0].csv()")))
    tab.open(page)
    assert len(set(head)) == len(head)
    (row,) = (found for row in rows if (found := dict(zip(head, row, strict=True)))["rank"] == "1")
    saved = [row[f"{'input.' * count}score"] for count in (1, 2, 3)]
    assert (*saved, row["input.price"]) == ("1", "2", "3", "4")


@pytest.mark.parametrize("width", [390, 1000])
def test_ticks_are_in_reach_on_a_narrow_screen(tab: Tab, width: int) -> None:
    tab.resize(width, mobile=width < 500)
    sizes = tab.run(
        "[...document.querySelectorAll('.tick input')].filter(e => !e.closest('tr').hidden)"
        ".map(e => e.getBoundingClientRect()).map(e => [e.width, e.left, innerWidth - e.right])"
    )
    assert sizes
    assert all(wide > 15 and left > 0 and right > 0 for wide, left, right in sizes)


@pytest.mark.parametrize(("width", "media"), [(703, "print"), (1000, "screen"), (390, "screen")])
def test_no_tick_box_covers_a_word(tab: Tab, width: int, media: str) -> None:
    tab.run("document.querySelectorAll('.tick input')[4].click()")  # beside the longest name
    tab.emulate(media)
    tab.resize(width, mobile=width < 500)
    covered = tab.run("""[...document.querySelectorAll(".tick input")].filter(box => {
      const own = box.getBoundingClientRect();
      const words = document.createRange();
      words.selectNodeContents(box.closest("tr").querySelector("th"));
      return own.width && [...words.getClientRects()].some(r =>
        r.left < own.right && own.left < r.right && r.top < own.bottom && own.top < r.bottom);
    }).length""")
    boxes = tab.run(
        "[...document.querySelectorAll('.tick input')].filter(e => e.clientWidth).length"
    )
    tab.run("document.querySelectorAll('.tick input')[4].click()")
    assert covered == 0
    assert boxes == 1 if media == "print" else boxes > 1


def test_a_hydrocarbon_is_doubted_and_the_crystal_ligand_stands_in_the_list(tab: Tab) -> None:
    data = json.loads(tab.run("document.querySelector('section.target script').textContent"))
    hits = data["hits"]
    assert "no nitrogen, oxygen or other polar atom" in hits[0]["doubts"][0]
    (reference,) = [i for i, hit in enumerate(hits) if hit["reference"]]
    assert hits[reference]["n"] == "REF"
    assert hits[reference]["r"] == sum(hit["s"] > hits[reference]["s"] for hit in hits) + 1
    assert [hit["s"] for hit in hits] == sorted((hit["s"] for hit in hits), reverse=True)
    assert data["reference"]["e"]
    tab.resize(390, mobile=True)
    before = "getComputedStyle(document.querySelector('{}'), '::before').content"
    rank = hits[reference]["r"]
    assert tab.run(before.format(".hits tr.ref .open")) == f'"({rank}) "'
    assert tab.run(before.format(".hits .open")) == '"1. "'


def test_paper_has_the_first_rows_as_filtered_and_sorted(tab: Tab) -> None:
    tab.run("dossiers[0].list.dataset.paper = '5'; dossiers[0].filter()")
    on_screen = shown(tab)
    tab.emulate("print")
    tab.resize(703)
    printed = (
        "[...document.querySelector('.hits tbody').rows].filter(r => r.clientHeight)"
        ".map(r => Number(r.dataset.i))"
    )
    assert tab.run(printed) == on_screen[:5]
    tab.run("document.querySelector('.hits thead button').click()")  # downwards
    assert tab.run(printed) == on_screen[::-1][:5]
    last = tab.run("dossiers[0].data.hits.at(-1).n")
    tab.run(f"dossiers[0].find('search').value = {json.dumps(last)}; dossiers[0].filter()")
    assert tab.run(printed) == shown(tab) == [on_screen[-1]]


@pytest.mark.parametrize(("width", "height"), [(8.27, 11.69), (8.5, 11)])
def test_it_prints_on_paper(tab: Tab, width: float, height: float) -> None:
    pdf = tab.pdf(width, height)
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert len(boxes) >= 3
    for box in boxes:
        assert float(box[0]) == pytest.approx(72 * width, abs=1)
        assert float(box[1]) == pytest.approx(72 * height, abs=1)
    assert tab.complaints() == []


def test_the_pose_is_drawn_for_paper_in_its_colours(tab: Tab) -> None:
    tab.emulate("screen", "dark")
    tab.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    dark = tab.run(INK)
    tab.run("window.dispatchEvent(new Event('beforeprint'))")  # before the styles of paper
    paper = tab.run(INK)
    tab.run("window.dispatchEvent(new Event('afterprint'))")
    assert tab.run(INK) == dark != paper
    tab.emulate("screen", "light")
    tab.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert tab.run(INK) == paper


def test_a_long_list_is_shown_in_part(tab: Tab) -> None:
    every = shown(tab)
    crystal = tab.run("Number(document.querySelector('.hits tr.ref').dataset.i)")
    assert crystal not in every[:5]
    hits = len(every) - 1  # the crystal ligand is none
    tab.run("dossiers[0].most = 5; dossiers[0].filter()")
    assert shown(tab) == sorted([*every[:5], crystal])
    words = "document.querySelector(\"[data-part='{}']\").textContent"
    assert tab.run(words.format("count")) == f"5 of {hits} shown; {hits} fit"
    tab.run(f"dossiers[0].most = {hits}; dossiers[0].filter()")
    assert shown(tab) == every  # the crystal ligand takes no hit's place
    tab.run("dossiers[0].most = 5; dossiers[0].filter()")
    for width in (1360, 390):  # what is hidden takes no room, in a table and among cards
        tab.resize(width, mobile=width < 500)
        assert tab.run("[...document.querySelectorAll('.hits')[0].rows].at(-1).clientHeight") == 0
    tab.run("dossiers[0].open(4)")
    tab.run("dossiers[0].step(1)")
    assert tab.run("dossiers[0].chosen") == 5  # the next one, shown or not
    assert tab.run(words.format("all")) == f"show all {hits}"
    tab.run("document.querySelector(\"[data-part='all']\").click()")
    assert shown(tab) == every
    assert tab.run("document.querySelector(\"[data-part='all']\").hidden")


def test_the_page_is_small(page: Path) -> None:
    """A thousand hits take less than eight megabytes beside the page's own text and figures."""
    data = page.read_text(encoding="utf-8")
    rows = re.findall(r"<tr data-i=.*?</tr>", data, re.S)
    hits = [json.loads(text)["hits"] for text in re.findall(r"json\">(.*?)</script>", data, re.S)]
    every = sum(map(len, hits))
    assert every == len(rows)
    per_hit = (sum(map(len, rows)) + len(json.dumps(hits))) / every
    assert 1000 * per_hit < 7e6

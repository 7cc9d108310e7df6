"""Result files of P2Rank and fpocket, as these programs write them."""

from pathlib import Path

import pytest

from ligen_py.errors import InputError
from ligen_py.molecules.receptor.cavity_files import read_found

INFO = """\
Pocket 1 :
\tScore : \t0.512
\tDruggability Score : \t0.725
\tNumber of Alpha Spheres : \t64
\tVolume : \t612.318

Pocket 2 :
\tScore : \t0.204
\tDruggability Score : \t0.011
\tVolume : \t220.000

"""


@pytest.fixture
def fpocket(tmp_path: Path) -> Path:
    """The folder that fpocket leaves: alpha spheres of one pocket, atoms of the other."""
    folder = tmp_path / "r_out"
    (folder / "pockets").mkdir(parents=True)
    (folder / "r_info.txt").write_text(INFO)
    (folder / "pockets" / "pocket1_vert.pqr").write_text(
        "HEADER\nHEADER 0  - Pocket Score                      : 0.5120\n"
        "ATOM      1    O STP     1      10.000  20.000  30.000    0.00     3.80\n"
        "ATOM      2    C STP     1      12.000  22.000  30.000    0.00     3.90\nTER\nEND\n"
    )
    (folder / "pockets" / "pocket2_atm.pdb").write_text(
        "HEADER\n"
        "ATOM    811  CD1 LEU A 107      -4.000   5.000   6.000  0.00  0.00           C 0\n"
        "ATOM    817  O   GLY A 108      -6.000   5.000   8.000  0.00  0.00           O 0\nEND\n"
    )
    return folder


@pytest.mark.parametrize("named", ["", "r_info.txt"])
def test_fpocket_s_folder_gives_centres_and_scores(fpocket: Path, named: str) -> None:
    first, second = read_found(fpocket / named)
    assert (first.rank, first.center, first.score) == (1, (11.0, 21.0, 30.0), 0.512)
    assert first.facts == "druggability score 0.725, volume 612.318"
    assert (second.rank, second.center) == (2, (-5.0, 5.0, 7.0))


def test_what_is_no_result_file_is_named(fpocket: Path) -> None:
    (fpocket / "pockets" / "pocket2_atm.pdb").unlink()
    with pytest.raises(InputError, match=r"has neither pocket2_vert.pqr nor pocket2_atm.pdb"):
        read_found(fpocket)
    other = fpocket / "x.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"x\.csv: not P2Rank's predictions"):
        read_found(other)
    for cell, rank, message in (
        ("nan", 2, r"x\.csv: cavity 1 has no centre"),
        ("5", 1, r"x\.csv: 2 cavities are of rank 1"),
    ):
        lines = ("rank,score,center_x,center_y,center_z", f"1,3,{cell},0,0", f"{rank},2,1,1,1", "")
        other.write_text("\n".join(lines))
        with pytest.raises(InputError, match=message):
            read_found(other)
    with pytest.raises(InputError, match=r"contains 0 \*_info\.txt files"):
        read_found(fpocket / "pockets")
    with pytest.raises(InputError, match="give P2Rank's"):
        read_found(fpocket / "pockets" / "pocket1_vert.pqr")

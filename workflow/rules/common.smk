"""What all rules share: the checked campaign, the interpreter, the shapes of names."""

import atexit
import hashlib
import os
import re
import shlex
from pathlib import Path

from ligen_py.campaign.earlier import EarlierRun
from ligen_py.campaign.workplan import Workplan, stage_environment
from ligen_py.chain import BEST, SEQUENCES, STAGES, screen
from ligen_py.ending import PART_OF, this_process
from ligen_py.errors import InputError
from ligen_py.provenance import stage_digest
from ligen_py.settings.document import from_here, read_document
from ligen_py.settings.flags import flags
from ligen_py.settings.section import NAME
from ligen_py.store.campaign.layout import CONFIG
from ligen_py.store.campaign.contents import DEEP, Contents
from snakemake.exceptions import WorkflowError

# Config files are merged key by key, so the example must not lie under a campaign of your own.
if not workflow.overwrite_configfiles and not config:

    configfile: "config/config.yaml"


wildcard_constraints:
    target=NAME,
    library=NAME,
    search=NAME,
    genome=NAME,
    chunk=r"([^/]+\.)?\d+-of-\d+",


def checked_plan():
    """The campaign of this run; what is wrong with it ends Snakemake with one sentence."""
    files = workflow.overwrite_configfiles or workflow.configfiles
    path = from_here(files[-1]) if files else "command line"
    one = len(files) == 1 and not workflow.config_settings.config
    try:
        source = read_document(Path(path)).source if one else path
        return Workplan.of(config, source, Path(path).parent)
    except InputError as error:
        raise WorkflowError(str(error)) from None


plan = checked_plan()
earlier = EarlierRun(plan, Path())
described = plan.described(Path("results"))
CHUNK = screen(plan.settings.search)
# What is known at the start, to be copied: a rule with Python code starts another Snakemake.
# As a module its rule `all` is not run, nor what it does at the start.
MAIN = workflow.modifier.is_main_snakefile()
DRAFTS = Path(".snakemake", "ligen_drafts")
contents = Contents(Path.cwd(), deep=DEEP in os.environ)

SETTINGS = "LIGEN_SETTINGS"
"""Environment variable of Snakemake's jobs: digest of the settings with which the run began."""

asked = hashlib.sha256(plan.settings.model_dump_json().encode()).hexdigest()
# A job on a cluster reads the config again, but what Snakemake records of it is of the run's start.
if not workflow.is_main_process and os.environ.get(SETTINGS, asked) != asked:
    raise WorkflowError(
        f"{plan.config.name}: was changed while the campaign runs; put it back, or stop the run "
        "and start it again"
        # On a node without them the effort stands for other settings.
        + (f" ({plan.without_networks})" if plan.without_networks else "")
    )


@atexit.register  # a run with nothing to do calls no handler of Snakemake's
def keep_contents():
    """Note the contents of the campaign's files for the next run."""
    if workflow.is_main_process and not workflow.dryrun:
        contents.keep()


STARTED_BY = os.environ.get(PART_OF)
os.environ.update(stage_environment() | {PART_OF: this_process(), SETTINGS: asked})

"""A virtual screening campaign: python -m ligen_py.<stage>, one rule a stage, or all of a chunk."""

from snakemake.utils import min_version

min_version("9.27")


report: "workflow/report/campaign.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/files.smk"
include: "workflow/rules/start.smk"
include: "workflow/rules/ligands.smk"
include: "workflow/rules/pocket.smk"
include: "workflow/rules/screen.smk"
include: "workflow/rules/controls.smk"
include: "workflow/rules/results.smk"
include: "workflow/rules/sequences.smk"


rule all:
    default_target: True
    input:
        [LISTED] if plan.pockets else [],
        accepted(),
        plan.final("<results>"),
        lambda wildcards: recorded(),
        # What was lost nothing else asks for. With --batch a call is to plan a part only.
        lambda wildcards: (
            []
            if workflow.dag_settings.batch
            else [str(path) for path in earlier.missing() if path not in EXPORTED]
        ),

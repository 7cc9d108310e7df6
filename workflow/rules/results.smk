import time

from ligen_py.store.files.text import write_texts

# An empty file named after the parts of the campaign. Other parts need another file, so the list of
# parts is made again whatever Snakemake is told to compare.
LISTED = f"<results>/.parts-{plan.digest[:16]}"


rule manifest:
    input:
        crystals=given(lambda wildcards: plan.crystals()),
        # Of a module Snakemake does nothing at the start, where this is asked else.
        nothing=lambda wildcards: [] if MAIN else [*refused(), *recorded()],
    output:
        table=report(
            "<results>/manifest.tsv",
            caption="../report/manifest.rst",
            category="Files",
            labels={"what": "parts of the campaign"},
        ),
        mark=LISTED,
    log:
        "<logs>/manifest.log",
    localrule: True
    conda:
        "../../envs/ligen.yaml"
    params:
        draft=DRAFTS / "manifest.tsv",
    message:
        "List the parts of the campaign"
    shell:
        "{{ rm -f $(dirname {output.mark:q})/.parts-*; cp {params.draft} {output.table}; touch {output.mark}; }} > {log} 2>&1"


rule config:
    output:
        f"<results>/{CONFIG}",
    log:
        "<logs>/config.log",
    localrule: True
    conda:
        "../../envs/ligen.yaml"
    params:
        # Another one is another config. In a function, braces of the user's are no wildcards.
        text=lambda wildcards: described,
        draft=DRAFTS / CONFIG,
    message:
        "Keep the config, with all settings written out"
    shell:
        "cp {params.draft} {output} > {log} 2>&1"


rule aggregate:
    input:
        **{kind: plan.paths(path) for kind, path in inputs("aggregate").items()},
        manifest="<results>/manifest.tsv",
        verdicts=verdicts("json"),
        accepted=[] if MAIN else accepted(),
    output:
        made("campaign"),
    log:
        log_of("aggregate"),
    benchmark:
        times_of("aggregate")
    conda:
        "../../envs/ligen.yaml"
    threads: 4
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards: plan.resources.aggregate_minutes(),
    params:
        parts=plan.digest,
        effort=plan.settings.effort,
        flags=flags(plan.settings.aggregate),
        code=stage_digest("aggregate"),
    message:
        "Rank the library and balance the ledger"
    shell:
        "python -m ligen_py.aggregate"
        " --manifest {input.manifest}"
        " --parts {params.parts}"
        " --effort {params.effort}"
        " --verdicts {input.verdicts}"
        " --output {output}"
        " --jobs {threads}"
        " {params.flags}"
        " > {log} 2>&1"


# The files of parts that it reads beside are those that the campaign file is made from.
rule networks:
    input:
        **inputs("networks"),
        manifest="<results>/manifest.tsv",
    output:
        made("networks"),
    log:
        log_of("networks"),
    benchmark:
        times_of("networks")
    conda:
        "../../envs/ligen.yaml"
    threads: 4
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=240,
    params:
        flags=flags(plan.settings.networks),
        code=stage_digest("networks"),
    message:
        "Let networks judge the poses of the best molecules"
    shell:
        "python -m ligen_py.networks"
        " --campaign {input.campaign}"
        " --manifest {input.manifest}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


# What networks say is read where the config asks for it.
JUDGED = {"networks": made("networks")} if plan.settings.networks.best else {}
BY_NETWORKS = ["--networks {input.networks}"] if JUDGED else []


# Not every file of this folder is an output that can be asked for. Where one is lost, another input asks
# for all: by its age, and by its content, since Snakemake takes equal content for unchanged.
LOST = DRAFTS / "exported_again"
EXPORTED = earlier.exported() if workflow.is_main_process else []
if EXPORTED and (earlier.changed() or not all(path.exists() for path in EXPORTED)):
    try:
        write_texts(DRAFTS, {LOST.name: f"{time.time_ns()}\n"})
    except InputError as error:
        raise WorkflowError(str(error)) from None


rule export:
    input:
        **inputs("export"),
        **JUDGED,
        manifest="<results>/manifest.tsv",
        pockets=plan.paths(made("pocket")),
        lost=[LOST] if LOST.exists() else [],
    output:
        # Not the folder: Snakemake would delete what users keep there.
        *[
            report(
                f"<results>/export/{target}.{kind}",
                caption="../report/export.rst",
                category="Molecules",
                labels={"target": target, "file": kind},
            )
            for target in plan.ranked
            for kind in ("csv", "sdf")
        ],
        written=update(made("export")),
    log:
        log_of("export"),
    benchmark:
        times_of("export")
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        flags=flags(plan.settings.export),
        code=stage_digest("export"),
    message:
        "Write the best molecules and the receptors for other programs"
    shell:
        f"python -m ligen_py.export {' '.join(BY_NETWORKS)}"
        " --campaign {input.campaign}"
        " --manifest {input.manifest}"
        ' --output "$(dirname {output.written})"'
        " --list {output.written}"
        " {params.flags}"
        " > {log} 2>&1"


# The folder of `export` is named in the table, not read: a changed export needs no report.
REPORTED = [
    *(["--campaign {input.campaign}"] if plan.pockets else []),
    *BY_NETWORKS,
    *(['--exported "$(dirname {output.page})/export"'] if plan.pockets else []),
    *(["--references {input.references:q}"] if plan.references() else []),
    *(["--searches {input.searches:q}"] if plan.searches.reported("") else []),
]


rule report:
    input:
        **(inputs("report") if plan.pockets else {}),
        **JUDGED,
        references=given(lambda wildcards: plan.references()),
        searches=plan.searches.reported("<results>"),
    output:
        page=report(
            made("report"),
            caption="../report/page.rst",
            category="Campaign",
            labels={"what": "hits, poses, controls and ledger"},
        ),
        table=report(
            "<results>/report.txt",
            caption="../report/table.rst",
            category="Campaign",
            labels={"what": "the same as text"},
        ),
    log:
        log_of("report"),
    benchmark:
        times_of("report")
    conda:
        "../../envs/ligen.yaml"
    threads: 2
    resources:
        mem_mb=lambda wildcards, attempt: plan.resources.report_memory() * attempt,
        runtime=60,
    params:
        flags=lambda wildcards: plan.report_flags(),
        contents=[contents.digest(file) for file in plan.references()],
        code=stage_digest("report"),
    message:
        "Report what came out"
    shell:
        f"python -m ligen_py.report {' '.join(REPORTED)}"
        " --output {output.page}"
        " --times benchmarks"
        " --jobs {threads}"
        " {params.flags}"
        " > {output.table} 2> {log}"

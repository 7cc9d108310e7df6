# An empty file named after the parts of the campaign. Other parts need another file, so the list of
# parts is made again whatever Snakemake is told to compare.
LISTED = f"<results>/.parts-{plan.digest[:16]}"


rule manifest:
    input:
        crystals=plan.crystals(),
    output:
        table="<results>/manifest.tsv",
        mark=LISTED,
    log:
        "<logs>/manifest.log",
    localrule: True
    message:
        "List the parts of the campaign"
    run:
        list_parts(Path(output.table), Path(output.mark))


rule aggregate:
    input:
        **{kind: plan.paths(path) for kind, path in inputs("aggregate").items()},
        manifest="<results>/manifest.tsv",
    output:
        made("campaign"),
    log:
        log_of("aggregate"),
    benchmark:
        times_of("aggregate")
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=240,
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
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule export:
    input:
        **inputs("export"),
        manifest="<results>/manifest.tsv",
    output:
        directory(made("export")),
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
        "Write the best molecules as SDF and CSV"
    shell:
        "python -m ligen_py.export"
        " --campaign {input.campaign}"
        " --manifest {input.manifest}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule report:
    input:
        **inputs("report"),
    output:
        page=report(
            made("report"),
            caption="../report/page.rst",
            category="Campaign",
            labels={"what": "hits, poses, controls and ledger"},
        ),
        table="<results>/report.txt",
    log:
        log_of("report"),
    benchmark:
        times_of("report")
    conda:
        "../../envs/ligen.yaml"
    threads: 2
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        flags=flags(plan.settings.report),
        code=stage_digest("report"),
    message:
        "Tell what came out"
    shell:
        # The folder of `export` is named in the table, not read: a changed export needs no report.
        "python -m ligen_py.report"
        " --campaign {input.campaign}"
        " --output {output.page}"
        ' --exported "$(dirname {output.page})/export"'
        " --times benchmarks"
        " --jobs {threads}"
        " {params.flags}"
        " > {output.table} 2> {log}"

rule manifest:
    output:
        "<results>/manifest.tsv",
    log:
        "<logs>/manifest.log",
    localrule: True
    params:
        rows=lambda wildcards, output: plan.manifest(str(Path(output[0]).parent)),
    message:
        "List the parts of the campaign"
    run:
        write_texts(Path(output[0]).parent, {"manifest.tsv": params.rows})


rule aggregate:
    input:
        manifest="<results>/manifest.tsv",
        pockets=plan.paths("<results>/pockets/{target}.h5"),
        ligands=plan.paths("<results>/ligands/{library}/{chunk}.h5"),
        refined=plan.paths("<results>/refined/{target}/{library}/{chunk}.h5"),
        scores=plan.paths("<results>/scores/{target}/{library}/{chunk}.h5"),
    output:
        "<results>/campaign.h5",
    log:
        "<logs>/aggregate.log",
    benchmark:
        "<benchmarks>/aggregate.tsv"
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=240,
    params:
        flags=flags(plan.settings.aggregate),
        code=stage_digest("aggregate"),
    message:
        "Rank the library and balance the ledger"
    shell:
        "python -m ligen_py.aggregate"
        " --manifest {input.manifest}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule export:
    input:
        campaign="<results>/campaign.h5",
        manifest="<results>/manifest.tsv",
    output:
        directory("<results>/export"),
    log:
        "<logs>/export.log",
    benchmark:
        "<benchmarks>/export.tsv"
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
        campaign="<results>/campaign.h5",
    output:
        page=report(
            "<results>/report.html",
            caption="../report/page.rst",
            category="Campaign",
            labels={"what": "ranking, controls and ledger"},
        ),
        table="<results>/report.txt",
    log:
        "<logs>/report.log",
    benchmark:
        "<benchmarks>/report.tsv"
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        flags=flags(plan.settings.report),
        code=stage_digest("report"),
        # Named in the table, not read: a changed export needs no new report.
        exported=lambda wildcards, output: Path(output.page).parent / "export",
    message:
        "Tell what came out"
    shell:
        "python -m ligen_py.report"
        " --campaign {input.campaign}"
        " --output {output.page}"
        " --exported {params.exported}"
        " {params.flags}"
        " > {output.table} 2> {log}"

rule database:
    input:
        lambda wildcards: plan.resolve(
            plan.settings.homologs[wildcards.search].database
        ),
    output:
        "<results>/homologs/{search}/database.h5",
    log:
        "<logs>/database/{search}.log",
    benchmark:
        "<benchmarks>/database/{search}.tsv"
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, input, attempt: (2000 + 4 * input.size_mb) * attempt,
        runtime=60,
    params:
        code=stage_digest("database"),
    message:
        "Convert the database of {wildcards.search}"
    shell:
        "python -m ligen_py.database"
        " --input {input:q}"
        " --output {output}"
        " > {log} 2>&1"


rule homologs:
    input:
        unpack(lambda wildcards: plan.search_files(wildcards.search, "<results>")),
    output:
        "<results>/homologs/{search}/{chunk}.h5",
    log:
        "<logs>/homologs/{search}/{chunk}.log",
    benchmark:
        "<benchmarks>/homologs/{search}/{chunk}.tsv"
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=240,
    params:
        files=lambda wildcards: shlex.join(
            word
            for name, path in plan.search_files(wildcards.search, "results").items()
            if name in ("query", "receptor", "pocket", "database")
            for word in (f"--{name}", str(path))
        ),
        flags=lambda wildcards: plan.search_flags(wildcards.search),
        code=stage_digest("homologs"),
    message:
        "Search homologs of {wildcards.search}, part {wildcards.chunk}"
    shell:
        "python -m ligen_py.homologs"
        " {params.files}"
        " --part {wildcards.chunk}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule panel:
    input:
        lambda wildcards: [
            f"<results>/homologs/{wildcards.search}/{part}.h5"
            for part in plan.search_parts(wildcards.search)
        ],
    output:
        homologs="<results>/homologs/{search}/found/homologs.h5",
        listing="<results>/homologs/{search}/found/hits.txt",
        hits="<results>/homologs/{search}/found/hits.tsv",
        blast="<results>/homologs/{search}/found/hits.blast.tsv",
        panel=report(
            "<results>/homologs/{search}/found/panel.tsv",
            caption="../report/panel.rst",
            category="Homologs",
            labels={"what": "anti-targets of {search}"},
        ),
    log:
        "<logs>/panel/{search}.log",
    benchmark:
        "<benchmarks>/panel/{search}.tsv"
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        flags=lambda wildcards: plan.panel_flags(wildcards.search),
        code=stage_digest("panel"),
    message:
        "Join the parts of {wildcards.search} and choose its anti-targets"
    shell:
        "python -m ligen_py.panel"
        " --hits {input:q}"
        " --output $(dirname {output.homologs:q})"
        " {params.flags}"
        " > {log} 2>&1"

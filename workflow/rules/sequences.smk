from ligen_py.sequences.genome import files_of


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
        contents=lambda wildcards: contents.digest(
            plan.resolve(plan.settings.homologs[wildcards.search].database)
        ),
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
        contents=lambda wildcards: contents.digests(
            plan.search_sources("homologs", wildcards.search)
        ),
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
            for part in plan.search_parts("homologs", wildcards.search)
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


ruleorder: best > reuse > parse


rule best:
    input:
        campaign=made("campaign"),
        manifest="<results>/manifest.tsv",
    output:
        f"<results>/ligands/{BEST}{{search}}/1-of-1.h5",
    log:
        "<logs>/best/{search}.log",
    benchmark:
        "<benchmarks>/best/{search}.tsv"
    wildcard_constraints:
        search=plan.any_selective(),
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=60,
    params:
        targets=lambda wildcards: shlex.join(plan.ranked_targets(wildcards.search)),
        flags=lambda wildcards: plan.best_flags(wildcards.search),
        code=stage_digest("best"),
    message:
        "Choose the best ligands for the anti-targets of {wildcards.search}"
    shell:
        "python -m ligen_py.best"
        " --campaign {input.campaign}"
        " --manifest {input.manifest}"
        " --targets {params.targets}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule selectivity:
    input:
        campaign=made("campaign"),
        ligands=f"<results>/ligands/{BEST}{{search}}/1-of-1.h5",
        panel="<results>/homologs/{search}/found/panel.tsv",
        scores=lambda wildcards: list(
            plan.antitarget_scores(wildcards.search, "<results>").values()
        ),
    output:
        "<results>/homologs/{search}/selectivity.tsv",
    log:
        "<logs>/selectivity/{search}.log",
    benchmark:
        "<benchmarks>/selectivity/{search}.tsv"
    wildcard_constraints:
        search=plan.any_selective(),
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        targets=lambda wildcards: shlex.join(plan.ranked_targets(wildcards.search)),
        names=lambda wildcards: shlex.join(
            plan.antitarget_scores(wildcards.search, "results")
        ),
        flags=lambda wildcards: plan.best_flags(wildcards.search),
        code=stage_digest("selectivity"),
    message:
        "Compare scores in target and anti-targets of {wildcards.search}"
    shell:
        "python -m ligen_py.selectivity"
        " --campaign {input.campaign}"
        " --ligands {input.ligands}"
        " --panel {input.panel:q}"
        " --targets {params.targets}"
        " --names {params.names}"
        " --scores {input.scores:q}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule genome:
    input:
        lambda wildcards: plan.genomes[wildcards.genome],
    output:
        directory("<results>/genomes/{genome}"),
    log:
        "<logs>/genome/{genome}.log",
    benchmark:
        "<benchmarks>/genome/{genome}.tsv"
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=60,
    params:
        contents=lambda wildcards: contents.digests(
            files_of(plan.genomes[wildcards.genome])
        ),
        code=stage_digest("genome"),
    message:
        "Convert the genome {wildcards.genome}"
    shell:
        "python -m ligen_py.genome"
        " --genome {input:q}"
        " --output {output}"
        " > {log} 2>&1"


rule offtargets:
    input:
        unpack(
            lambda wildcards: plan.genome_files(
                "offtargets", wildcards.search, "<results>"
            )
        ),
    output:
        "<results>/offtargets/{search}/{chunk}.h5",
    log:
        "<logs>/offtargets/{search}/{chunk}.log",
    benchmark:
        "<benchmarks>/offtargets/{search}/{chunk}.tsv"
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=240,
    params:
        contents=lambda wildcards: contents.digests(
            plan.search_sources("offtargets", wildcards.search)
        ),
        files=lambda wildcards: plan.genome_words(
            "offtargets", wildcards.search, "results"
        ),
        flags=lambda wildcards: plan.offtarget_flags(wildcards.search),
        code=stage_digest("offtargets"),
    message:
        "Search off-targets of {wildcards.search}, part {wildcards.chunk}"
    shell:
        "python -m ligen_py.offtargets"
        " {params.files}"
        " --part {wildcards.chunk}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule sites:
    input:
        lambda wildcards: [
            f"<results>/offtargets/{wildcards.search}/{part}.h5"
            for part in plan.search_parts("offtargets", wildcards.search)
        ],
    output:
        file="<results>/offtargets/{search}/found/offtargets.h5",
        table="<results>/offtargets/{search}/found/offtargets.tsv",
        counts="<results>/offtargets/{search}/found/counts.tsv",
    log:
        "<logs>/sites/{search}.log",
    benchmark:
        "<benchmarks>/sites/{search}.tsv"
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=60,
    params:
        code=stage_digest("offtargets"),
    message:
        "Join the parts of {wildcards.search}"
    shell:
        "python -m ligen_py.offtargets"
        " --join {input:q}"
        " --output {output.file}"
        " --tables $(dirname {output.file:q})"
        " > {log} 2>&1"


rule guide_sites:
    input:
        unpack(
            lambda wildcards: plan.genome_files(
                "guides", wildcards.search, "<results>"
            )
        ),
    output:
        "<results>/guides/{search}/{chunk}.h5",
    log:
        "<logs>/guide_sites/{search}/{chunk}.log",
    benchmark:
        "<benchmarks>/guide_sites/{search}/{chunk}.tsv"
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=240,
    params:
        contents=lambda wildcards: contents.digests(
            plan.search_sources("guides", wildcards.search)
        ),
        files=lambda wildcards: plan.genome_words("guides", wildcards.search, "results"),
        flags=lambda wildcards: plan.guide_flags(wildcards.search),
        code=stage_digest("guides"),
    message:
        "Search sites of the guides of {wildcards.search}, part {wildcards.chunk}"
    shell:
        "python -m ligen_py.guides"
        " {params.files}"
        " --part {wildcards.chunk}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule guides:
    input:
        unpack(
            lambda wildcards: plan.genome_files(
                "guides", wildcards.search, "<results>"
            )
        ),
        sites=lambda wildcards: [
            f"<results>/guides/{wildcards.search}/{part}.h5"
            for part in plan.search_parts("guides", wildcards.search)
        ],
    output:
        guides="<results>/guides/{search}/found/guides.h5",
        table="<results>/guides/{search}/found/guides.tsv",
        bed="<results>/guides/{search}/found/guides.bed",
        offtargets="<results>/guides/{search}/found/offtargets.tsv",
    log:
        "<logs>/guides/{search}.log",
    benchmark:
        "<benchmarks>/guides/{search}.tsv"
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=60,
    params:
        contents=lambda wildcards: contents.digests(
            plan.search_sources("guides", wildcards.search)
        ),
        files=lambda wildcards: plan.genome_words("guides", wildcards.search, "results"),
        flags=lambda wildcards: plan.guide_flags(wildcards.search),
        code=stage_digest("guides"),
    message:
        "Rank the guides of {wildcards.search}"
    shell:
        "python -m ligen_py.guides"
        " {params.files}"
        " --sites {input.sites:q}"
        " --output {output.guides}"
        " --tables $(dirname {output.guides:q})"
        " {params.flags}"
        " > {log} 2>&1"

from ligen_py.sequences.genome import files_of


rule database:
    input:
        given(
            lambda wildcards: plan.resolve(
                plan.settings.homologs[wildcards.search].database
            )
        ),
    output:
        searched("database"),
    log:
        log_of("database"),
    benchmark:
        times_of("database")
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        # Four times the plain text, which gzip makes half as large.
        mem_mb=lambda wildcards, input, attempt: (2000 + 8 * input.size_mb) * attempt,
        runtime=60,
    params:
        contents=lambda wildcards: contents.digest(
            plan.resolve(plan.settings.homologs[wildcards.search].database)
        ),
        code=stage_digest(SEQUENCES["database"].name),
    message:
        "Convert the database of {wildcards.search}"
    shell:
        "python -m ligen_py.database"
        " --input {input:q}"
        " --output {output}"
        " > {log} 2>&1"


rule homologs:
    input:
        unpack(
            given(
                lambda wildcards: plan.searches.homolog_files(
                    wildcards.search, "<results>"
                )
            )
        ),
    output:
        searched("homologs"),
    log:
        log_of("homologs"),
    benchmark:
        times_of("homologs")
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=240,
    params:
        contents=lambda wildcards: contents.digests(
            plan.searches.sources("homologs", wildcards.search)
        ),
        files=lambda wildcards: shlex.join(
            word
            for name, path in plan.searches.homolog_files(
                wildcards.search, "results"
            ).items()
            if name in ("query", "receptor", "pocket", "database")
            for word in (f"--{name}", str(path))
        ),
        flags=lambda wildcards: plan.searches.homolog_flags(wildcards.search),
        code=stage_digest(SEQUENCES["homologs"].name),
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
        lambda wildcards: plan.searches.part_files(
            "homologs", wildcards.search, "<results>"
        ),
    output:
        homologs=searched("panel"),
        listing=searched("panel", "hits.txt"),
        hits=searched("panel", "hits.tsv"),
        blast=searched("panel", "hits.blast.tsv"),
        panel=report(
            searched("panel", "panel.tsv"),
            caption="../report/panel.rst",
            category="Homologs",
            labels={"what": "anti-targets of {search}"},
        ),
    log:
        log_of("panel"),
    benchmark:
        times_of("panel")
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        flags=lambda wildcards: plan.searches.panel_flags(wildcards.search),
        code=stage_digest(SEQUENCES["panel"].name),
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
        searched("best"),
    log:
        log_of("best"),
    benchmark:
        times_of("best")
    wildcard_constraints:
        search=plan.searches.any_selective(),
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=60,
    params:
        targets=lambda wildcards: shlex.join(
            plan.searches.ranked_targets(wildcards.search)
        ),
        flags=lambda wildcards: plan.searches.best_flags(wildcards.search),
        code=stage_digest(SEQUENCES["best"].name),
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
        ligands=searched("best"),
        panel=searched("panel", "panel.tsv"),
        scores=lambda wildcards: list(
            plan.searches.antitarget_scores(wildcards.search, "<results>").values()
        ),
    output:
        searched("selectivity"),
    log:
        log_of("selectivity"),
    benchmark:
        times_of("selectivity")
    wildcard_constraints:
        search=plan.searches.any_selective(),
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        targets=lambda wildcards: shlex.join(
            plan.searches.ranked_targets(wildcards.search)
        ),
        names=lambda wildcards: shlex.join(
            plan.searches.antitarget_scores(wildcards.search, "results")
        ),
        flags=lambda wildcards: plan.searches.best_flags(wildcards.search),
        code=stage_digest(SEQUENCES["selectivity"].name),
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
        given(lambda wildcards: plan.searches.genomes[wildcards.genome]),
    output:
        directory(searched("genome")),
    log:
        log_of("genome"),
    benchmark:
        times_of("genome")
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=60,
    params:
        contents=lambda wildcards: contents.digests(
            files_of(plan.searches.genomes[wildcards.genome])
        ),
        code=stage_digest(SEQUENCES["genome"].name),
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
            given(
                lambda wildcards: plan.searches.genome_files(
                    "offtargets", wildcards.search, "<results>"
                )
            )
        ),
    output:
        searched("offtargets"),
    log:
        log_of("offtargets"),
    benchmark:
        times_of("offtargets")
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=240,
    params:
        contents=lambda wildcards: contents.digests(
            plan.searches.sources("offtargets", wildcards.search)
        ),
        files=lambda wildcards: plan.searches.genome_words(
            "offtargets", wildcards.search, "results"
        ),
        flags=lambda wildcards: plan.searches.offtarget_flags(wildcards.search),
        code=stage_digest(SEQUENCES["offtargets"].name),
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
        lambda wildcards: plan.searches.part_files(
            "offtargets", wildcards.search, "<results>"
        ),
    output:
        file=searched("sites"),
        table=searched("sites", "offtargets.tsv"),
        counts=searched("sites", "counts.tsv"),
        others=[
            searched("sites", name)
            for name in ("offtargets.bed", "cas-offinder-3.txt", "summary.txt")
        ],
    log:
        log_of("sites"),
    benchmark:
        times_of("sites")
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=60,
    params:
        code=stage_digest(SEQUENCES["sites"].name),
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
            given(
                lambda wildcards: plan.searches.genome_files(
                    "guides", wildcards.search, "<results>"
                )
            )
        ),
    output:
        searched("guide_sites"),
    log:
        log_of("guide_sites"),
    benchmark:
        times_of("guide_sites")
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=240,
    params:
        contents=lambda wildcards: contents.digests(
            plan.searches.sources("guides", wildcards.search)
        ),
        files=lambda wildcards: plan.searches.genome_words(
            "guides", wildcards.search, "results"
        ),
        flags=lambda wildcards: plan.searches.guide_flags(wildcards.search),
        code=stage_digest(SEQUENCES["guide_sites"].name),
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
            given(
                lambda wildcards: plan.searches.genome_files(
                    "guides", wildcards.search, "<results>"
                )
            )
        ),
        sites=lambda wildcards: plan.searches.part_files(
            "guides", wildcards.search, "<results>"
        ),
    output:
        guides=searched("guides"),
        table=searched("guides", "guides.tsv"),
        bed=searched("guides", "guides.bed"),
        offtargets=searched("guides", "offtargets.tsv"),
    log:
        log_of("guides"),
    benchmark:
        times_of("guides")
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=60,
    params:
        contents=lambda wildcards: contents.digests(
            plan.searches.sources("guides", wildcards.search)
        ),
        files=lambda wildcards: plan.searches.genome_words(
            "guides", wildcards.search, "results"
        ),
        flags=lambda wildcards: plan.searches.guide_flags(wildcards.search),
        code=stage_digest(SEQUENCES["guides"].name),
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

"""One chunk against one target; the device comes from LIGEN_DEVICE, never from the config.

On a cluster the four stages of a chunk are one job: it asks for the sum of their times and the
largest of their memories.
"""

if plan.settings.search == "lga":

    rule lga:
        input:
            **inputs("lga"),
        output:
            made("poses"),
        log:
            log_of("lga"),
        benchmark:
            times_of("lga")
        group:
            "chunk"
        conda:
            "../../envs/ligen.yaml"
        threads: 8
        resources:
            mem_mb=lambda wildcards, attempt: 4000 * attempt,
            runtime=240,
        params:
            flags=flags(plan.settings.lga),
            code=stage_digest("lga"),
        message:
            "Dock {wildcards.library}, part {wildcards.chunk}, into {wildcards.target} by the genetic algorithm"
        shell:
            "python -m ligen_py.lga"
            " --ligands {input.ligands}"
            " --pocket {input.pocket}"
            " --output {output}"
            " {params.flags}"
            " > {log} 2>&1"

else:

    rule dock:
        input:
            **inputs("dock"),
        output:
            made("poses"),
        log:
            log_of("dock"),
        benchmark:
            times_of("dock")
        group:
            "chunk"
        conda:
            "../../envs/ligen.yaml"
        threads: 8
        resources:
            mem_mb=lambda wildcards, attempt: 4000 * attempt,
            runtime=60,
        params:
            flags=flags(plan.settings.dock),
            code=stage_digest("dock"),
        message:
            "Dock {wildcards.library}, part {wildcards.chunk}, into {wildcards.target}"
        shell:
            "python -m ligen_py.dock"
            " --ligands {input.ligands}"
            " --pocket {input.pocket}"
            " --output {output}"
            " {params.flags}"
            " > {log} 2>&1"


rule filter:
    input:
        **inputs("filter"),
    output:
        made("kept"),
    log:
        log_of("filter"),
    benchmark:
        times_of("filter")
    group:
        "chunk"
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        flags=flags(plan.settings.filter),
        code=stage_digest("filter"),
    message:
        "Choose poses of {wildcards.library}, part {wildcards.chunk}, in {wildcards.target}"
    shell:
        "python -m ligen_py.filter"
        " --ligands {input.ligands}"
        " --poses {input.poses}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule refine:
    input:
        **inputs("refine"),
    output:
        made("refined"),
    log:
        log_of("refine"),
    benchmark:
        times_of("refine")
    group:
        "chunk"
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        flags=flags(plan.settings.refine),
        code=stage_digest("refine"),
    message:
        "Refine poses of {wildcards.library}, part {wildcards.chunk}, in {wildcards.target}"
    shell:
        "python -m ligen_py.refine"
        " --ligands {input.ligands}"
        " --pocket {input.pocket}"
        " --poses {input.poses}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule score:
    input:
        **inputs("score"),
    output:
        made("scores"),
    log:
        log_of("score"),
    benchmark:
        times_of("score")
    group:
        "chunk"
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        flags=flags(plan.settings.score),
        code=stage_digest("score"),
    message:
        "Score {wildcards.library}, part {wildcards.chunk}, in {wildcards.target}"
    shell:
        "python -m ligen_py.score"
        " --ligands {input.ligands}"
        " --pocket {input.pocket}"
        " --poses {input.poses}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"

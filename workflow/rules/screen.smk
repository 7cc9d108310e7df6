"""One chunk against one target; the device comes from LIGEN_DEVICE, never from the config.

On a cluster the four stages of a chunk are one job: it asks for the sum of their times and the
largest of their memories.
"""


rule dock:
    input:
        ligands="<results>/ligands/{library}/{chunk}.h5",
        pocket="<results>/pockets/{target}.h5",
    output:
        "<results>/poses/{target}/{library}/{chunk}.h5",
    log:
        "<logs>/dock/{target}/{library}/{chunk}.log",
    benchmark:
        "<benchmarks>/dock/{target}/{library}/{chunk}.tsv"
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
        ligands="<results>/ligands/{library}/{chunk}.h5",
        poses="<results>/poses/{target}/{library}/{chunk}.h5",
    output:
        "<results>/kept/{target}/{library}/{chunk}.h5",
    log:
        "<logs>/filter/{target}/{library}/{chunk}.log",
    benchmark:
        "<benchmarks>/filter/{target}/{library}/{chunk}.tsv"
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
        ligands="<results>/ligands/{library}/{chunk}.h5",
        pocket="<results>/pockets/{target}.h5",
        poses="<results>/kept/{target}/{library}/{chunk}.h5",
    output:
        "<results>/refined/{target}/{library}/{chunk}.h5",
    log:
        "<logs>/refine/{target}/{library}/{chunk}.log",
    benchmark:
        "<benchmarks>/refine/{target}/{library}/{chunk}.tsv"
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
        ligands="<results>/ligands/{library}/{chunk}.h5",
        pocket="<results>/pockets/{target}.h5",
        poses="<results>/refined/{target}/{library}/{chunk}.h5",
    output:
        "<results>/scores/{target}/{library}/{chunk}.h5",
    log:
        "<logs>/score/{target}/{library}/{chunk}.log",
    benchmark:
        "<benchmarks>/score/{target}/{library}/{chunk}.tsv"
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

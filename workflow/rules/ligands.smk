rule parse:
    input:
        library=lambda wildcards: plan.library(wildcards.library),
    output:
        "<results>/ligands/{library}/{chunk}.h5",
    log:
        "<logs>/parse/{library}/{chunk}.log",
    benchmark:
        "<benchmarks>/parse/{library}/{chunk}.tsv"
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        flags=lambda wildcards: plan.parse_flags(wildcards.library),
        code=stage_digest("parse"),
    message:
        "Parse {wildcards.library}, part {wildcards.chunk}"
    shell:
        "python -m ligen_py.parse"
        " --input {input.library:q}"
        " --part {wildcards.chunk}"
        " --output {output}"
        " --jobs {threads}"
        " {params.flags}"
        " > {log} 2>&1"

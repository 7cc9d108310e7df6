rule parse:
    input:
        library=lambda wildcards: str(plan.source(wildcards.library, wildcards.chunk)),
        # An input function that gives nothing costs Snakemake time in each of many jobs.
        after=(
            []
            if plan.settings.duplicates == "chunk"
            else lambda wildcards: [
                made("ligands").format(library=library, chunk=chunk)
                for library, chunk in plan.before(wildcards.library, wildcards.chunk)
            ]
        ),
    output:
        made("ligands"),
    log:
        log_of("parse"),
    benchmark:
        times_of("parse")
    wildcard_constraints:
        library=f"(?!{BEST}(?:{plan.any_selective()})/){NAME}",
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=240,
    params:
        part=lambda wildcards: wildcards.chunk.rpartition(".")[2],
        contents=lambda wildcards: (
            # What the campaign draws itself, Snakemake compares.
            ""
            if plan.is_drawn(wildcards.library)
            else contents.digest(plan.source(wildcards.library, wildcards.chunk))
        ),
        flags=lambda wildcards: parse_flags(wildcards.library),
        code=stage_digest("parse"),
    message:
        "Parse {wildcards.library}, part {wildcards.chunk}"
    shell:
        "python -m ligen_py.parse"
        " --input {input.library:q}"
        " --after {input.after:q}"
        " --part {params.part}"
        " --output {output}"
        " --jobs {threads}"
        " {params.flags}"
        " > {log} 2>&1"


rule reuse:
    input:
        ligands=lambda wildcards: plan.source(wildcards.library, wildcards.chunk),
    output:
        made("ligands"),
    log:
        "<logs>/reuse/{library}/{chunk}.log",
    wildcard_constraints:
        library=plan.reused(),
    localrule: True
    conda:
        "../../envs/ligen.yaml"
    params:
        contents=lambda wildcards: contents.digest(
            plan.source(wildcards.library, wildcards.chunk)
        ),
    message:
        "Take {wildcards.library}, part {wildcards.chunk}, as another campaign parsed it"
    shell:
        # A link if both folders are on one disk; the other campaign never changes a finished file.
        "(ln -f {input.ligands:q} {output} || cp -p {input.ligands:q} {output}) > {log} 2>&1"

content = functools.cache(contents.digest)  # of a library's file, for each of its parts
parse_flags = functools.cache(plan.parse_flags)  # looks at every file of a library
AFTER = "" if plan.settings.duplicates == "chunk" else " --after {params.after:q}"


# A library has many parts. Each function of a rule, and each name in braces of its command line, is
# a part of Snakemake's time for each job.
rule parse:
    input:
        library=given(lambda wildcards: plan.source(wildcards.library, wildcards.chunk)),
        after=(
            []
            if not AFTER
            else lambda wildcards: [
                made("ligands").format(library=library, chunk=chunk)
                for library, chunk in plan.awaited(wildcards.library, wildcards.chunk)
            ]
        ),
    output:
        made("ligands"),
    log:
        log_of("parse"),
    benchmark:
        times_of("parse")
    wildcard_constraints:
        library=f"(?!{BEST}(?:{plan.searches.any_selective()})/){NAME}",
    conda:
        "../../envs/ligen.yaml"
    threads: 8
    resources:
        mem_mb=seen(
            lambda wildcards, threads, attempt: (
                plan.resources.parse_memory(
                    wildcards.library, wildcards.chunk, threads
                )
                * attempt
            )
        ),
        runtime=240,
    params:
        contents=seen(
            lambda wildcards: (
                # What the campaign draws itself, Snakemake compares.
                ""
                if plan.controls.is_drawn(wildcards.library)
                else content(plan.source(wildcards.library, wildcards.chunk))
            )
        ),
        after=(
            []
            if not AFTER
            else lambda wildcards: [
                STAGES["parse"].file("results", library=library, chunk=chunk)
                for library, chunk in plan.before(wildcards.library, wildcards.chunk)
            ]
        ),
        flags=seen(
            lambda wildcards: (
                f"--part {wildcards.chunk.rpartition('.')[2]} {parse_flags(wildcards.library)}"
            )
        ),
        code=stage_digest("parse"),
    message:
        "Parse {wildcards.library}, part {wildcards.chunk}"
    shell:
        "python -m ligen_py.parse"
        " --input {input.library:q}"
        f"{AFTER} --output {{output}}"
        " --jobs {threads}"
        " {params.flags}"
        " > {log} 2>&1"


rule reuse:
    input:
        ligands=given(lambda wildcards: plan.source(wildcards.library, wildcards.chunk)),
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
        # No link: Snakemake renews the time of what a rule made, and so would that of the other
        # campaign's own file, which would then score all of it again.
        "cp {input.ligands:q} {output} > {log} 2>&1"

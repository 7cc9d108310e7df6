rule pocket:
    input:
        receptor=given(lambda wildcards: plan.receptor(wildcards.target)),
        named=given(lambda wildcards: plan.named_files(wildcards.target)),
    output:
        made("pocket"),
    log:
        log_of("pocket"),
    benchmark:
        times_of("pocket")
    conda:
        "../../envs/ligen.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        contents=lambda wildcards: contents.digests(
            plan.pocket_sources(wildcards.target)
        ),
        flags=lambda wildcards: plan.pocket_flags(wildcards.target),
        code=stage_digest("pocket"),
    message:
        "Prepare the pocket of {wildcards.target}"
    shell:
        "python -m ligen_py.pocket"
        " --receptor {input.receptor:q}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"

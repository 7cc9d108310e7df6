"""Controls of each target, docked by the same rules as a library.

`ligen run` makes the target `validate` first, and everything else in a second run of Snakemake. No
rule of a library reads a verdict; docs/architecture.md says what each way to do so would break.
"""


# The libraries are no inputs: one that grows draws no new decoys.
rule decoys:
    input:
        actives=given(
            lambda wildcards: plan.resolve(plan.controls.of(wildcards.target).actives)
        ),
    output:
        "<results>/controls/{target}/decoys.smi",
    log:
        "<logs>/decoys/{target}.log",
    localrule: True
    conda:
        "../../envs/ligen.yaml"
    params:
        flags=lambda wildcards: plan.controls.decoys_flags(wildcards.target),
        contents=lambda wildcards: contents.digest(
            plan.resolve(plan.controls.of(wildcards.target).actives)
        ),
        code=stage_digest("decoys"),
    message:
        "Draw decoys for the actives of {wildcards.target}"
    shell:
        "python -m ligen_py.decoys"
        " --actives {input.actives:q}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule controls:
    input:
        given(lambda wildcards: plan.controls.verdict_inputs(wildcards.target)),
    output:
        json="<results>/controls/{target}/controls.json",
        text=report(
            "<results>/controls/{target}/controls.txt",
            caption="../report/controls.rst",
            category="Controls",
            labels={"what": "{target}"},
        ),
    log:
        "<logs>/controls/{target}.log",
    localrule: True
    conda:
        "../../envs/ligen.yaml"
    params:
        flags=lambda wildcards: plan.controls.verdict_flags(wildcards.target),
        code=stage_digest("controls"),
    message:
        "Judge the controls of {wildcards.target}"
    shell:
        "python -m ligen_py.controls"
        " {params.flags}"
        " --output {output.json}"
        " > {log} 2>&1"


rule accept:
    input:
        "<results>/controls/{target}/controls.json",
    output:
        "<results>/controls/{target}/accepted.txt",
    log:
        "<logs>/accept/{target}.log",
    localrule: True
    conda:
        "../../envs/ligen.yaml"
    params:
        flags=lambda wildcards: plan.controls.accept_flags(wildcards.target),
        code=stage_digest("accept"),
    message:
        "Compare the controls of {wildcards.target} with their limits"
    shell:
        "python -m ligen_py.accept"
        " --verdict {input}"
        " --output {output}"
        " {params.flags}"
        " > {log} 2>&1"


rule validate:
    input:
        accepted(),
        lambda wildcards: [*([] if MAIN else refused()), *recorded()],
    localrule: True

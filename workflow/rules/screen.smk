"""One chunk against one target; the device comes from LIGEN_DEVICE, never from the config.

One process runs the stages of a chunk. It keeps the results of stages that need not run again:
Snakemake neither deletes them (`update`) nor knows which they are. Scores are no such file, so that a
job that failed leaves none, and the chunk counts as unfinished whatever files were put back.
With `docked_poses: drop` the files of docked poses stay, without their rows.
"""

for _stage in CHUNK:

    rule:
        name:
            _stage.name
        output:
            asked_for(_stage.name),
        log:
            f"<logs>/again/{_stage.name}.log",
        localrule: True
        conda:
            "../../envs/ligen.yaml"
        message:
            f"Have every chunk run {_stage.name} again, and what follows it"
        # Other content each time: Snakemake takes a newer file of equal content for unchanged.
        shell:
            "date +%s%N > {output} 2> {log}"


rule screen:
    input:
        ligands=made("ligands"),
        pocket=made("pocket"),
        again=seen(lambda wildcards: again()),
    output:
        **{stage.kind: update(made(stage.kind)) for stage in CHUNK[:-1]},
        scores=made("scores"),
    log:
        log_of("screen"),
    benchmark:
        times_of("screen")
    conda:
        "../../envs/ligen.yaml"
    # Some chunks share a card: one starts and writes while the kernels of another one run.
    threads: 4
    resources:
        mem_mb=seen(
            lambda wildcards, attempt: (
                plan.resources.screen_memory(wildcards.library, wildcards.chunk)
                * attempt
            )
        ),
        runtime=240 if plan.settings.search == "ligen" else 420,
    params:
        flags=shlex.join(
            [f"--search={plan.settings.search}"]
            + [
                f"--{stage.name}={flags(getattr(plan.settings, stage.name))}"
                for stage in CHUNK
            ]
            + [word for kind in plan.dropped for word in ("--drop", kind)]
        ),
        code=" ".join(stage_digest(stage.name) for stage in CHUNK),
    message:
        "Screen {wildcards.library}, part {wildcards.chunk}, against {wildcards.target}"
    shell:
        "python -m ligen_py.screen"
        " --ligands {input.ligands}"
        " --pocket {input.pocket}"
        " --poses {output.poses}"
        " --kept {output.kept}"
        " --refined {output.refined}"
        " --scores {output.scores}"
        " --again {input.again}"
        " {params.flags}"
        " > {log} 2>&1"

"""The HTML page of a report, a Jinja template; in a module, so that the stage's digest sees it."""

TEMPLATE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Virtual screening: {{ targets | map(attribute='name') | join(', ') }}</title>
<style>
:root {
  --paper: #fbfaf8; --card: #ffffff; --ink: #1d2430; --soft: #667085; --line: #e5e2dc;
  --bar: #b9cbe0; --mark: #c2410c; --good: #15803d; --bad: #b45309; --accent: #1f4e79;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161c; --card: #1a2029; --ink: #e6e9ee; --soft: #98a2b3; --line: #2b3340;
    --bar: #38506b; --mark: #fb923c; --good: #4ade80; --bad: #fbbf24; --accent: #8ec1f0;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main { max-width: 1080px; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; letter-spacing: -0.02em; margin: 0 0 0.25rem; }
h2 {
  font-size: 1.35rem; letter-spacing: -0.01em; margin: 3rem 0 1rem; padding-bottom: 0.4rem;
  border-bottom: 2px solid var(--accent); overflow-wrap: anywhere;
}
h3 {
  font-size: 0.8rem; text-transform: uppercase; letter-spacing: 0.08em; color: var(--soft);
  margin: 0 0 0.75rem; font-weight: 600;
}
p { margin: 0.4rem 0; }
a { color: var(--accent); }
.soft { color: var(--soft); }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 1.1rem 1.25rem; margin: 0 0 1rem; overflow-x: auto;
}
.facts { display: flex; flex-wrap: wrap; gap: 0.5rem 2.2rem; margin: 0; }
.facts div { min-width: 5rem; }
.facts dt { color: var(--soft); font-size: 0.8rem; }
.facts dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.facts small { font-size: 0.8rem; color: var(--soft); }
.good { color: var(--good); } .bad { color: var(--bad); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th {
  text-align: left; font-weight: 600; font-size: 0.78rem; color: var(--soft);
  padding: 0 0.9rem 0.4rem 0; white-space: nowrap; vertical-align: bottom;
}
td { padding: 0.32rem 0.9rem 0.32rem 0; border-top: 1px solid var(--line); vertical-align: top; }
th.n, td.n { text-align: right; white-space: nowrap; }
td.name { overflow-wrap: anywhere; min-width: 9rem; width: 99%; }
td.name div { max-height: 4.6em; overflow: auto; }
tr.best td { font-weight: 600; }
svg { display: block; width: 100%; height: auto; }
svg text { font-size: 11px; fill: var(--soft); }
svg .bar { fill: var(--bar); } svg .axis { stroke: var(--line); }
svg .mark { stroke: var(--mark); stroke-width: 2; } svg .zone { fill: var(--line); opacity: 0.55; }
.alarm { color: var(--bad); font-weight: 600; overflow-wrap: anywhere; }
details { margin-top: 0.75rem; } summary { cursor: pointer; color: var(--soft); }
code { font-size: 0.85em; overflow-wrap: anywhere; }
footer { margin-top: 3rem; color: var(--soft); font-size: 0.85rem; }
@media print { .card { break-inside: avoid; } body { background: none; } }
</style>
</head>
<body>
<main>
<h1>Virtual screening campaign</h1>
<p class="soft">{{ targets | length }} target{{ '' if targets | length == 1 else 's' }}:
{% for target in targets %}
<a href="#target-{{ loop.index }}">{{ target.name }}</a>{{ '' if loop.last else ',' }}
{% endfor %}
&middot; larger scores are better.</p>

{% for target in targets %}
<h2 id="target-{{ loop.index }}">{{ target.name }}</h2>

<section class="card">
<h3>Best molecules</h3>
<p class="soft">{{ ranked_words(target) }}</p>
<table>
<tr><th class="n">rank</th><th class="n">score</th><th>name</th>
{% if target.best %}
{% for term in target.best[0].terms %}
<th class="n">{{ term.split('/')[0] }}<br>{{ term.split('/')[-1] }}</th>
{% endfor %}
{% endif %}
<th class="n">states</th><th>library</th></tr>
{% for hit in target.best %}
<tr{% if loop.first %} class="best"{% endif %}>
<td class="n">{{ hit.rank }}</td><td class="n">{{ '%.2f' | format(hit.score) }}</td>
<td class="name"><div>{{ hit.name }}</div></td>
{% for value in hit.terms.values() %}
<td class="n">{{ '%.2f' | format(value) }}</td>
{% endfor %}
<td class="n">{{ hit.states }}</td><td>{{ hit.library }}</td></tr>
{% else %}
<tr><td colspan="5">No molecule was scored; the ledger below says why.</td></tr>
{% endfor %}
</table>
</section>

<section class="card">
<h3>Redocking control</h3>
{% set control = target.control %}
{% if control and control.rmsd is not none %}
<dl class="facts">
<div><dt>best-scored pose to crystal</dt>
<dd class="{{ 'good' if control.rmsd <= GOOD_RMSD else 'bad' }}">
{{ '%.2f' | format(control.rmsd) }}&nbsp;&Aring;</dd></div>
<div><dt>nearest of {{ control.poses }} kept poses</dt>
<dd class="{{ 'good' if control.rmsd_kept <= GOOD_RMSD else 'bad' }}">
{{ '%.2f' | format(control.rmsd_kept) }}&nbsp;&Aring;</dd></div>
<div><dt>score</dt><dd>{{ '%.2f' | format(control.score) }}</dd></div>
</dl>
<p class="soft">{{ control.name }}, docked from scratch. Root-mean-square distance of heavy atoms,
symmetry-corrected, without alignment; up to {{ GOOD_RMSD }}&nbsp;&Aring; counts as found.</p>
{% else %}
<p>{{ words(control) }}.</p>
{% endif %}
</section>

{% if target.bars %}
<section class="card">
<h3>Scores of {{ target.size }} ranked molecules</h3>
<svg viewBox="0 0 {{ WIDTH }} {{ HEIGHT + FOOT }}" role="img" aria-label="Histogram of scores">
{% for x, y, width, height, said in bars(target) %}
<rect class="bar" x="{{ '%.1f' | format(x) }}" y="{{ '%.1f' | format(y) }}"
 width="{{ '%.1f' | format(width) }}" height="{{ '%.1f' | format(height) }}">
<title>{{ said }}</title></rect>
{% endfor %}
<line class="axis" x1="0" x2="{{ WIDTH }}" y1="{{ HEIGHT + 0.5 }}" y2="{{ HEIGHT + 0.5 }}"/>
{% for x, label, anchor in ticks(target) %}
<text x="{{ x }}" y="{{ HEIGHT + 17 }}" text-anchor="{{ anchor }}">{{ label }}</text>
{% endfor %}
</svg>
</section>
{% endif %}

{% for group in target.groups %}
<section class="card">
<h3>How {{ group.name }} ranked</h3>
{% set found = group.enrichment %}
{% if found %}
<dl class="facts">
<div><dt>ranked</dt><dd>{{ group.ranked | length }} <small>of {{ group.members | length }}</small>
</dd></div>
<div><dt>median rank</dt>
<dd>{{ '%g' | format(found.median_rank) }} <small>of {{ found.size }}</small></dd></div>
<div><dt>ROC AUC</dt><dd>{{ '%.2f' | format(found.auc) }}
{% if found.interval %}
<small>{{ '%.2f' | format(found.interval[0]) }} to
{{ '%.2f' | format(found.interval[1]) }}</small>
{% endif %}</dd></div>
{% for factor in found.factors %}
<div><dt>enrichment, best {{ '%.0f' | format(100 * factor.fraction) }}&nbsp;%</dt>
<dd>{{ '%.1f' | format(factor.value) }}
<small>{{ factor.hits }} of {{ factor.top }}; at most {{ '%.1f' | format(factor.highest) }}</small>
</dd></div>
{% endfor %}
</dl>
<svg viewBox="0 0 {{ WIDTH }} 44" role="img" aria-label="Ranks of {{ group.name }}">
<rect class="zone" x="0" y="6" width="{{ WIDTH }}" height="18" rx="3"/>
{% for member in group.ranked %}
<line class="mark" x1="{{ '%.1f' | format(x_of_rank(member.rank, group)) }}" y1="3"
 x2="{{ '%.1f' | format(x_of_rank(member.rank, group)) }}" y2="27">
<title>{{ member.rank }}: {{ member.name }}</title></line>
{% endfor %}
<text x="0" y="40">best</text>
<text x="{{ WIDTH }}" y="40" text-anchor="end">rank {{ found.size }}</text>
</svg>
<p class="soft">An AUC of 0.5 and an enrichment of 1 are chance.
{% if found.interval %}
The range is a 95&nbsp;% bootstrap interval.
{% else %}
Too few members for an interval.
{% endif %}
{{ caution(group) }}</p>
{% else %}
<p>Nothing to compare: no member is ranked, or nothing else is.</p>
{% endif %}
<details{% if group.members | length <= 12 %} open{% endif %}>
<summary>members</summary>
<table>
<tr><th class="n">rank</th><th class="n">score</th><th>name</th></tr>
{% for member in group.ranked %}
<tr><td class="n">{{ member.rank }}</td><td class="n">{{ '%.2f' | format(member.score) }}</td>
<td class="name"><div>{{ member.name }}</div></td></tr>
{% endfor %}
{% for member in group.missing %}
<tr><td class="n">&ndash;</td><td class="n">&ndash;</td>
<td class="name"><div>{{ member.name }}
<span class="soft">({{ member.note }})</span></div></td></tr>
{% endfor %}
</table>
</details>
</section>
{% endfor %}

<section class="card">
<h3>Ledger</h3>
<table>
<tr><th>library</th><th class="n">input records</th>
{% if target.ledger %}
{% for status in target.ledger[0].by_status %}<th class="n">{{ status }}</th>{% endfor %}
{% endif %}</tr>
{% for balance in target.ledger %}
<tr><td>{{ balance.library }}</td><td class="n">{{ balance.records }}</td>
{% for count in balance.by_status.values() %}<td class="n">{{ count }}</td>{% endfor %}</tr>
{% endfor %}
</table>
<p class="soft">Input records = scored + rejected + failed + duplicate; the campaign file lists
every record that is not scored.</p>
<details>
<summary>reasons</summary>
<table>
<tr><th>library</th><th class="n">records</th><th>status</th><th>stage</th><th>reason</th></tr>
{% for balance in target.ledger %}
{% for loss in balance.losses %}
<tr><td>{{ balance.library }}</td><td class="n">{{ loss.records }}</td><td>{{ loss.status }}</td>
<td>{{ loss.stage }}</td><td>{{ loss.reason }}</td></tr>
{% endfor %}
{% endfor %}
</table>
</details>
</section>

<section class="card">
<h3>Watch</h3>
<p>{{ target.watch.summary }}.</p>
{% for alarm in target.watch.alarms %}
<p class="alarm">{{ alarm }}</p>
{% endfor %}
</section>
{% endfor %}

<h2>How it was made</h2>
<section class="card">
<table>
<tr><th>file</th><th>settings</th><th>device</th><th>program</th></tr>
{% for run in runs %}
<tr><td>{{ run.kind }}</td><td>{{ run.settings }}</td><td>{{ run.device }}</td>
<td>{{ run.program }}</td></tr>
{% endfor %}
</table>
</section>
<footer>
{% for what, path in files.items() %}
{{ what }}: <code>{{ path }}</code>{{ '' if loop.last else ' &middot; ' | safe }}
{% endfor %}
</footer>
</main>
</body>
</html>
"""

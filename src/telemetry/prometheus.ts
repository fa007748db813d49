/** Formats metrics in the text format of Prometheus, version 0.0.4. */
import type { HistogramPoint, MetricFamily, MetricLabels } from "./meter.ts";

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const UNIT_SUFFIXES = { s: "_seconds", By: "_bytes" } as const;

export function formatPrometheus(families: readonly MetricFamily[]): string {
  return families.map(formatFamily).join("");
}

/** `rookery.append.duration` in seconds becomes `rookery_append_duration_seconds`. Counters end in `_total`. */
export function toPrometheusName({ name, unit, type }: Pick<MetricFamily, "name" | "unit" | "type">): string {
  const base = name.replaceAll(/[^a-zA-Z0-9_:]/g, "_");
  return `${base}${unit === undefined ? "" : UNIT_SUFFIXES[unit]}${type === "counter" ? "_total" : ""}`;
}

function formatFamily(family: MetricFamily): string {
  const name = toPrometheusName(family);
  const help = family.help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  const lines =
    family.type === "histogram"
      ? family.points.flatMap((point) => formatHistogram(name, family.bounds, point))
      : family.points.map(({ labels, value }) => formatSample(name, labels, value));
  return `# HELP ${name} ${help}\n# TYPE ${name} ${family.type}\n${lines.join("")}`;
}

function formatHistogram(
  name: string,
  bounds: readonly number[],
  { labels, counts, sum, count }: HistogramPoint,
): string[] {
  let total = 0;
  const buckets = bounds.map((bound, index) => {
    total += counts[index] ?? 0;
    return formatSample(`${name}_bucket`, { ...labels, le: formatNumber(bound) }, total);
  });
  return [
    ...buckets,
    formatSample(`${name}_bucket`, { ...labels, le: "+Inf" }, count),
    formatSample(`${name}_sum`, labels, sum),
    formatSample(`${name}_count`, labels, count),
  ];
}

function formatSample(name: string, labels: MetricLabels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${toLabelName(label)}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${formatNumber(value)}\n`;
}

function toLabelName(label: string): string {
  return label.replaceAll(/[^a-zA-Z0-9_]/g, "_");
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function formatNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return String(value);
}

/** A strict parser of the Prometheus text format 0.0.4, for tests. It knows nothing of the code that writes it. */

export interface ParsedFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: { readonly name: string; readonly labels: Record<string, string>; readonly value: number }[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)/y;

/** Throws with the line that breaks a rule of the format or of the naming conventions. */
export function parseExposition(text: string): Map<string, ParsedFamily> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, ParsedFamily>();
  let help: readonly [string, string] | undefined;
  let current: readonly [string, ParsedFamily] | undefined;
  const series = new Set<string>();
  for (const line of text.slice(0, -1).split("\n")) {
    const fail = (why: string): never => {
      throw new Error(`${why}: ${line}`);
    };
    if (line.startsWith("# HELP ")) {
      const [name = "", ...words] = line.slice(7).split(" ");
      if (!NAME.test(name) || words.length === 0) fail("invalid HELP");
      help = [name, words.join(" ")];
    } else if (line.startsWith("# TYPE ")) {
      const [name = "", type = ""] = line.slice(7).split(" ");
      if (help?.[0] !== name) fail("TYPE without HELP");
      if (families.has(name)) fail("a family occurs twice");
      if (!["counter", "gauge", "histogram"].includes(type)) fail("unknown type");
      if ((type === "counter") !== name.endsWith("_total")) fail("only counters end in _total");
      if (/_(milliseconds|ms|minutes|kilobytes|mb)(_|$)/.test(name)) fail("not a base unit");
      current = [name, { type, help: help?.[1] ?? "", samples: [] }];
      families.set(...current);
    } else {
      const [, name = "", labelText, value = ""] = SAMPLE.exec(line) ?? fail("not a sample");
      const [family, { type, samples }] = current ?? fail("a sample before its TYPE");
      const suffixes = type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      if (!suffixes.some((suffix) => name === `${family}${suffix}`)) fail("a sample of another family");
      const labels = parseLabels(labelText ?? "", fail);
      if ("quantile" in labels || "le" in labels !== name.endsWith("_bucket")) fail("a reserved label");
      const key = `${name}${JSON.stringify(Object.entries(labels).sort())}`;
      if (series.has(key)) fail("a series occurs twice");
      series.add(key);
      const number = value === "+Inf" ? Infinity : value === "-Inf" ? -Infinity : Number(value);
      if (Number.isNaN(number) && value !== "NaN") fail("not a number");
      samples.push({ name, labels, value: number });
    }
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family);
  return families;
}

function parseLabels(text: string, fail: (why: string) => never): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = "", value = ""] = LABEL.exec(text) ?? fail("invalid labels");
    if (name in labels) fail("a label occurs twice");
    labels[name] = value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
  }
  return labels;
}

/** Buckets are cumulative, end with +Inf, and agree with the count. */
function checkHistogram(name: string, { samples }: ParsedFamily): void {
  const bySeries = new Map<string, typeof samples>();
  for (const sample of samples) {
    const { le: _, ...others } = sample.labels;
    const key = JSON.stringify(others);
    bySeries.set(key, [...(bySeries.get(key) ?? []), sample]);
  }
  for (const [labels, ofSeries] of bySeries) {
    const buckets = ofSeries.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map((sample) => (sample.labels["le"] === "+Inf" ? Infinity : Number(sample.labels["le"])));
    const counts = buckets.map(({ value }) => value);
    const count = ofSeries.find((sample) => sample.name === `${name}_count`)?.value;
    const isSorted = (numbers: readonly number[]) =>
      numbers.every((number, at) => at === 0 || number >= (numbers[at - 1] ?? 0));
    if (bounds.at(-1) !== Infinity || counts.at(-1) !== count || !isSorted(bounds) || !isSorted(counts))
      throw new Error(`the histogram ${name}${labels} is inconsistent`);
    if (!ofSeries.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${name}${labels} has no sum`);
  }
}

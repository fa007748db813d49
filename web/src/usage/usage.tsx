/** Tokens and cost by day, agent, model and repository. */
import { createEffect, createSignal, For, Show, type JSX } from "solid-js";
import "../styles/usage.css";
import type { components } from "../../../src/client/index.ts";
import { readWhenConnected } from "../feed/read-when-connected.ts";
import { folderName, formatTokens, formatUsd, visible } from "../format.ts";
import { dataOf, messageOf } from "../request.ts";
import { Problem } from "../shell/problem.tsx";
import { useServer } from "../server.tsx";
import { sumUsageBy, type UsageDimension, type UsageSum } from "./sums.ts";

const PERIODS = { "7d": "7 days", "4w": "4 weeks", "": "all time" } as const;
type Period = keyof typeof PERIODS;
const TABLES: readonly [UsageDimension, string][] = [
  ["agent", "Agent"],
  ["model", "Model"],
  ["repository", "Repository"],
];
const MAX_ROWS = 50;

export function Usage(): JSX.Element {
  const { client, feed } = useServer();
  const [period, setPeriod] = createSignal<Period>("4w");
  const [report, setReport] = createSignal<components["schemas"]["UsageReport"]>();
  const [problem, setProblem] = createSignal<string>();

  createEffect(() => void load(period()));
  readWhenConnected(feed, {
    read: () => void load(period()),
    hasFailed: () => problem() !== undefined,
    isSnapshot: false,
  });
  async function load(since: Period): Promise<void> {
    const by: UsageDimension[] = ["day", "agent", "model", "repository"];
    try {
      const query = { by, ...(since !== "" && { since }) };
      const found = await dataOf(client.GET("/v1/usage", { params: { query } }));
      if (since !== period()) return;
      setReport(found);
      setProblem(undefined);
    } catch (error) {
      setProblem(messageOf(error));
    }
  }

  return (
    <main class="usage">
      <header class="roster-head">
        <h1>Usage</h1>
        <label>
          <span class="visually-hidden">Period</span>
          <select value={period()} onChange={({ currentTarget }) => setPeriod(currentTarget.value as Period)}>
            <For each={Object.entries(PERIODS)}>{([value, title]) => <option value={value}>{title}</option>}</For>
          </select>
        </label>
      </header>
      <Problem text={problem()} />
      <Show when={report()} fallback={<p class="muted">Loading…</p>}>
        {(known) => (
          <Show when={known().rows.length > 0} fallback={<p class="empty">No usage in this period.</p>}>
            <p class="total">
              <strong>{formatUsd(known().total.knownCostUsd)}</strong>{" "}
              <span class="muted">
                for {formatTokens(known().total.inputTokens + known().total.outputTokens)} tokens
                <Show when={known().total.unpricedTokens > 0}>
                  {" "}
                  · the price of {formatTokens(known().total.unpricedTokens)} tokens is unknown
                </Show>
              </span>
            </p>
            <DayChart days={sumUsageBy(known().rows, "day")} />
            <div class="tables">
              <For each={TABLES}>
                {([dimension, title]) => <UsageTable title={title} sums={sumUsageBy(known().rows, dimension)} />}
              </For>
            </div>
            <Show when={known().truncated}>
              <p class="muted small">There are more rows than the server lists. The total is complete.</p>
            </Show>
          </Show>
        )}
      </Show>
    </main>
  );
}

/** A bar is no wider than this, in pixels. */
const MAX_BAR = 64;
/** More labels would overlap on a wide screen. A phone shows every second one. */
const MAX_LABELS = 31;

/** Bars for the cost of each day, or for the tokens if no cost is known. The label has the same figures as text. */
function DayChart(props: { readonly days: readonly UsageSum[] }): JSX.Element {
  const hasCost = (): boolean => props.days.some(({ knownCostUsd }) => knownCostUsd > 0);
  const amount = (day: UsageSum): number => (hasCost() ? day.knownCostUsd : day.tokens);
  const most = (): number => Math.max(...props.days.map(amount), Number.MIN_VALUE);
  const percent = (slots: number): string => `${(100 * slots) / props.days.length}%`;
  const format = (value: number): string => (hasCost() ? formatUsd(value) : formatTokens(value));
  const labelEvery = (): number => Math.ceil(props.days.length / MAX_LABELS);
  const caption = (): string => {
    const [first, last] = [props.days[0]?.name ?? "", props.days.at(-1)?.name ?? ""];
    const range = first === last ? formatDay(first) : `${formatDay(first)} to ${formatDay(last)}`;
    return `${hasCost() ? "Cost" : "Tokens"} per day, ${range}, at most ${format(most())}`;
  };
  return (
    <figure class="chart">
      <figcaption class="small muted">{caption()}</figcaption>
      <svg
        height="140"
        style={{ "max-width": `${props.days.length * MAX_BAR}px` }}
        role="img"
        aria-label={props.days.map((day) => `${day.name}: ${format(amount(day))}`).join(", ")}
      >
        <For each={props.days}>
          {(day, index) => {
            const height = (): number => Math.max(1, (amount(day) / most()) * 100);
            return (
              <g>
                <title>{`${day.name}: ${format(amount(day))}`}</title>
                <rect x={percent(index() + 0.1)} y={112 - height()} width={percent(0.8)} height={height()} rx="2" />
                <Show when={index() % labelEvery() === 0}>
                  <text x={percent(index() + 0.5)} y="130" class={index() % (2 * labelEvery()) === 0 ? "" : "minor"}>
                    {day.name.slice(8)}
                  </text>
                </Show>
              </g>
            );
          }}
        </For>
      </svg>
    </figure>
  );
}

/** Such as "Nov 18". */
function formatDay(day: string): string {
  return new Date(`${day}T12:00:00`).toLocaleDateString("en", { month: "short", day: "numeric" });
}

function UsageTable(props: { readonly title: string; readonly sums: readonly UsageSum[] }): JSX.Element {
  return (
    <table class="data-table">
      <thead>
        <tr>
          <th scope="col">{props.title}</th>
          <th scope="col" class="number">
            Tokens
          </th>
          <th scope="col" class="number">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        <For each={props.sums.slice(0, MAX_ROWS)}>
          {(sum) => (
            <tr>
              <th scope="row" title={sum.name}>
                {visible(props.title === "Repository" ? folderName(sum.name) : sum.name)}
              </th>
              <td class="number">{formatTokens(sum.tokens)}</td>
              <td class="number">
                {sum.unpricedTokens > 0 && sum.knownCostUsd === 0 ? "unknown" : formatUsd(sum.knownCostUsd)}
                {sum.unpricedTokens > 0 && sum.knownCostUsd > 0 ? " + unknown" : ""}
              </td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}

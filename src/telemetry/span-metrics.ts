/** Metrics of finished spans, named as in the semantic conventions if those have a name. */
import type { Meter } from "./meter.ts";
import type { Span } from "./span.ts";

/** The bounds that the conventions ask for. */
const MODEL_BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKEN_BOUNDS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];
const AGENT_BOUNDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 819.2, 1_638.4];
const TASK_BOUNDS = [1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200];

/** Returns a function that records a span. */
export function measureSpans(meter: Meter): (span: Span) => void {
  const histogram = (name: string, help: string, bounds: readonly number[]) =>
    meter.histogram({ name, unit: "s", help, bounds });
  const model = histogram("gen_ai.client.operation.duration", "Duration of model calls.", MODEL_BOUNDS);
  const agent = histogram("gen_ai.invoke_agent.duration", "Duration of turns.", AGENT_BOUNDS);
  const tool = histogram("gen_ai.execute_tool.duration", "Duration of tool calls.", AGENT_BOUNDS);
  const task = histogram("gen_ai.workflow.duration", "Duration of tasks from their creation.", TASK_BOUNDS);
  const stage = histogram("rookery.stage.duration", "Duration of the stages of tasks.", TASK_BOUNDS);
  const merge = histogram("rookery.merge.duration", "Duration of merges.", TASK_BOUNDS);
  const tokens = meter.histogram({
    name: "gen_ai.client.token.usage",
    help: "Tokens of model calls, by type.",
    bounds: TOKEN_BOUNDS,
  });
  const turns = meter.counter({ name: "rookery.turns.ended", help: "Turns that this process has ended, by outcome." });
  const tasks = meter.counter({ name: "rookery.tasks.ended", help: "Tasks that this process has ended, by outcome." });
  return (span) => {
    const seconds = (span.end - span.start) / 1000;
    const labels = (...names: readonly string[]): Record<string, string> => ({
      ...Object.fromEntries(
        names.flatMap((name) => {
          const value = span.attributes[name];
          return typeof value === "string" ? [[name, value]] : [];
        }),
      ),
      ...(span.error !== undefined && { "error.type": span.error.type }),
    });
    const readText = (name: string): string => labels(name)[name] ?? "unknown";
    const ofModel = ["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"];
    switch (span.operation) {
      case "chat": {
        model.record(seconds, labels(...ofModel));
        for (const type of ["input", "output"]) {
          const count = span.attributes[`gen_ai.usage.${type}_tokens`];
          if (typeof count === "number") tokens.record(count, { ...labels(...ofModel), "gen_ai.token.type": type });
        }
        return;
      }
      case "invoke_agent":
        agent.record(seconds, labels("gen_ai.agent.name", "gen_ai.provider.name", "gen_ai.request.model"));
        turns.add({ outcome: readText("rookery.turn.outcome") });
        return;
      case "execute_tool":
        tool.record(seconds, labels("gen_ai.tool.name"));
        return;
      case "invoke_workflow":
        task.record(seconds, labels());
        tasks.add({ outcome: readText("rookery.task.outcome") });
        return;
      case "stage":
        stage.record(seconds, labels());
        return;
      case "merge":
        merge.record(seconds, labels());
        return;
    }
  };
}

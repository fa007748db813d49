/** An agent's question whether it may, through the session's gate and back into one of the agent's own options. */
import type { PermissionDecision } from "../../domain/index.ts";
import type { schema } from "../../acp/index.ts";

/** Undefined where the agent offers nothing that says what was decided: then it is told that nothing was. */
export function outcomeOf(
  decision: PermissionDecision,
  options: readonly schema.PermissionOption[],
): schema.RequestPermissionResponse {
  const wanted = decision.allowed ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const option = wanted
    .map((kind) => options.find((offered) => offered.kind === kind))
    .find((found) => found !== undefined);
  const cancelled = !decision.allowed && decision.outcome === "cancelled";
  if (option === undefined || cancelled) return { outcome: { outcome: "cancelled" } };
  return { outcome: { outcome: "selected", optionId: option.optionId } };
}

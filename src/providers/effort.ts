/** Translates the effort setting into the options of each API. Rejects models that do not support it. */
import type { JSONObject } from "@ai-sdk/provider";
import { RookeryError } from "../domain/index.ts";
import type { Effort, ProviderKind } from "../domain/provider.ts";

/** Returns provider options for the SDK. Throws `model_invalid` if the model does not support the effort. */
export function effortOptions(kind: ProviderKind, model: string, effort: Effort | undefined): JSONObject {
  if (effort === undefined) return {};
  const options = EFFORT_OPTIONS[kind](model.toLowerCase(), effort);
  if (options !== undefined) return options;
  const fix = "choose another effort or model, or remove the effort setting";
  const cannot = effort === "off" ? "cannot disable thinking" : `does not support effort = "${effort}"`;
  throw new RookeryError("model_invalid", `${model} ${cannot}: ${fix}`);
}

const EFFORT_OPTIONS: Record<ProviderKind, (model: string, effort: Effort) => JSONObject | undefined> = {
  anthropic: anthropicEffort,
  openai: openaiEffort,
  google: googleEffort,
  "openai-compatible": (_, effort) => ({ reasoningEffort: COMPATIBLE_EFFORTS[effort] }),
};

/** The values that all compatible servers accept. */
const COMPATIBLE_EFFORTS: Record<Effort, string> = {
  off: "none",
  low: "low",
  medium: "medium",
  high: "high",
  max: "high",
};

/** Since version 4.6 the model takes an effort and decides how long to think. Older versions take a token budget. */
function anthropicEffort(model: string, effort: Effort): JSONObject | undefined {
  if (/claude-(instant|2|3-(haiku|opus|sonnet|5))/.test(model)) return effort === "off" ? {} : undefined;
  if (/claude-(3-7|(opus|sonnet)-4(-[015])?(-\d{8})?$|(opus|sonnet)-4-(0|1|5)|haiku-4)/.test(model)) {
    if (effort === "off") return { thinking: { type: "disabled" } };
    return { thinking: { type: "enabled", budgetTokens: CLAUDE_TOKENS[effort] } };
  }
  if (effort !== "off") return { thinking: { type: "adaptive", display: "summarized" }, effort };
  return /claude-((opus|sonnet)-5-5|fable|mythos)/.test(model) ? undefined : { thinking: { type: "disabled" } };
}

const CLAUDE_TOKENS: Record<Exclude<Effort, "off">, number> = { low: 4096, medium: 10_240, high: 24_576, max: 31_999 };

/** A name that is not OpenAI's is assumed to support reasoning, because gateways choose their own names. */
function openaiEffort(model: string, effort: Effort): JSONObject | undefined {
  const version = /^gpt-(\d+)(?:\.(\d+))?/.exec(model);
  const [major, minor] = [Number(version?.[1] ?? NaN), Number(version?.[2] ?? 0)];
  if (major < 5 || /^(gpt-\d[\d.]*-chat|chatgpt)/.test(model)) return effort === "off" ? {} : undefined;
  const own = version !== null || /^o\d/.test(model);
  const reasoningEffort = openaiEffortName(effort, { model, own, number: major * 100 + minor });
  if (reasoningEffort === undefined) return undefined;
  const summary = effort === "off" ? {} : { reasoningSummary: "auto" };
  return { reasoningEffort, ...summary, ...(own ? {} : { forceReasoning: true }) };
}

/** The effort name that a model accepts, as of November 2026. `number` is 501 for GPT-5.1. */
function openaiEffortName(
  effort: Effort,
  { model, own, number }: { readonly model: string; readonly own: boolean; readonly number: number },
): string | undefined {
  if (effort === "max") {
    if (number >= 600) return "max";
    return number >= 502 || model.includes("codex-max") ? "xhigh" : "high";
  }
  if (effort !== "off") return effort;
  if (!own) return "none";
  if (number === 500) return /codex|pro/.test(model) ? undefined : "minimal";
  if (number > 500 && number < 600) return /codex|pro/.test(model) ? undefined : "none";
  return /^gpt-(6-sol|6-luna|6\.1-terra)/.test(model) ? "none" : undefined;
}

/**
 * Gemini 2.5 takes a token budget, later versions a level. Flash models from 3 to 3.7 support a minimal level in place
 * of "off".
 */
function googleEffort(model: string, effort: Effort): JSONObject | undefined {
  if (/gemini-(1|2\.0)|gemma/.test(model)) return effort === "off" ? {} : undefined;
  if (model.includes("gemini-2.5")) {
    const pro = model.includes("pro");
    if (effort === "off") return pro ? undefined : { thinkingConfig: { thinkingBudget: 0 } };
    const most = pro ? 32_768 : 24_576;
    return { thinkingConfig: { thinkingBudget: Math.min(most, GEMINI_TOKENS[effort]), includeThoughts: true } };
  }
  if (effort === "off") {
    return /gemini-3(\.[1-7])?-flash/.test(model) ? { thinkingConfig: { thinkingLevel: "minimal" } } : undefined;
  }
  return { thinkingConfig: { thinkingLevel: effort === "max" ? "high" : effort, includeThoughts: true } };
}

const GEMINI_TOKENS: Record<Exclude<Effort, "off">, number> = { low: 1024, medium: 8192, high: 24_576, max: 32_768 };

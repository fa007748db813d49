/** Converts Codex's questions to a form, and the user's answers to the format it expects. */
import type { Question } from "../../domain/index.ts";
import type { UserInput } from "./wire.ts";

type InputQuestion = UserInput["questions"][number];

export function toForm({ questions }: UserInput): Question {
  const fields = questions.flatMap(toFormFields);
  const required = questions.filter((asked) => readChoices(asked).length === 0).map(({ id }) => id);
  return {
    message: questions.map(({ question }) => question).join("\n"),
    schema: { type: "object", properties: Object.fromEntries(fields), ...(required.length > 0 && { required }) },
  };
}

/** Free text takes precedence over a choice. Unanswered questions are left out. */
export function toInputAnswers({ questions }: UserInput, content: unknown): Record<string, { answers: string[] }> {
  const given = (content ?? {}) as Readonly<Record<string, unknown>>;
  const answers = questions.flatMap(({ id }): [string, { answers: string[] }][] => {
    const answer = [given[otherFieldName(id)], given[id]].find(
      (each) => typeof each === "string" && each.trim() !== "",
    );
    return typeof answer === "string" ? [[id, { answers: [answer] }]] : [];
  });
  return Object.fromEntries(answers);
}

function toFormFields(asked: InputQuestion): [string, object][] {
  const { id, header, question, isOther } = asked;
  const choices = readChoices(asked);
  const words = { ...(header !== "" && { title: header }), description: question };
  if (choices.length === 0) return [[id, { type: "string", ...words }]];
  const oneOf = choices.map(({ label, description }) => ({
    const: label,
    title: description === "" || description === label ? label : `${label}: ${description}`,
  }));
  const choice: [string, object] = [id, { type: "string", oneOf, ...words }];
  return isOther ? [choice, [otherFieldName(id), { type: "string", title: "Something else" }]] : [choice];
}

function readChoices({ options }: InputQuestion): { label: string; description: string }[] {
  return options ?? [];
}

function otherFieldName(id: string): string {
  return `${id}_other`;
}

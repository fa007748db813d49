/** A form made from the JSON schema of a question. A schema that is not a form is answered with JSON. */
import { createMemo, createSignal, For, Match, Show, Switch, createUniqueId, type JSX } from "solid-js";
import { parseFormFields, type FieldKind, type FormField } from "../../../../src/domain/form-fields.ts";
import { visible } from "../../format.ts";
import { readForm, startValues, type FormValues } from "./form-values.ts";

interface QuestionFormProps {
  readonly schema: unknown;
  readonly isBusy: boolean;
  /** Without content if the question has no schema. */
  onAccept(content: unknown): void;
  onDecline(): void;
}

export function QuestionForm(props: QuestionFormProps): JSX.Element {
  const fields = createMemo(() => (props.schema === undefined ? [] : parseFormFields(props.schema)));
  const [values, setValues] = createSignal<FormValues>(startValues(fields() ?? []));
  const [json, setJson] = createSignal("{}");
  const [problems, setProblems] = createSignal<Readonly<Record<string, string>>>({});
  const submit = (event: Event): void => {
    event.preventDefault();
    if (props.schema === undefined) return props.onAccept(undefined);
    const list = fields();
    const result = list === undefined ? readJson(json()) : readForm(list, values());
    setProblems(result.problems);
    if (Object.keys(result.problems).length === 0) props.onAccept(result.content);
  };
  return (
    <form class="question-form" onSubmit={submit} noValidate>
      <Show when={fields()} fallback={<JsonField value={json()} problem={problems()["json"]} onInput={setJson} />}>
        {(list) => (
          <For each={list()}>
            {(field) => (
              <Field
                field={field}
                value={values()[field.name]}
                problem={problems()[field.name]}
                onChange={(value) => setValues((all) => ({ ...all, [field.name]: value }))}
              />
            )}
          </For>
        )}
      </Show>
      <div class="request-actions">
        <button class="primary" type="submit" disabled={props.isBusy}>
          {props.schema === undefined ? "Accept" : "Answer"}
        </button>
        <button type="button" disabled={props.isBusy} onClick={() => props.onDecline()}>
          Decline
        </button>
      </div>
    </form>
  );
}

function readJson(text: string): { readonly content: unknown; readonly problems: Readonly<Record<string, string>> } {
  try {
    return { content: JSON.parse(text), problems: {} };
  } catch (error) {
    return { content: undefined, problems: { json: `This is not JSON: ${(error as Error).message}` } };
  }
}

function JsonField(props: {
  readonly value: string;
  readonly problem: string | undefined;
  onInput(text: string): void;
}): JSX.Element {
  return (
    <label class="field">
      <span>Answer as JSON</span>
      <textarea
        class="mono"
        rows={4}
        value={props.value}
        onInput={({ currentTarget }) => props.onInput(currentTarget.value)}
      />
      <Show when={props.problem}>{(text) => <span class="bad small">{text()}</span>}</Show>
    </label>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: FormValues[string] | undefined;
  readonly problem: string | undefined;
  onChange(value: string | boolean | readonly string[]): void;
}

function Field(props: FieldProps): JSX.Element {
  const id = createUniqueId();
  const kindOf = <T extends FieldKind["type"]>(type: T): Extract<FieldKind, { type: T }> | false =>
    props.field.kind.type === type && (props.field.kind as Extract<FieldKind, { type: T }>);
  const label = (): string =>
    visible(props.field.title ?? props.field.name) + (props.field.required ? "" : " (optional)");
  const described = {
    get "aria-describedby"() {
      return `${id}-note`;
    },
    get "aria-invalid"() {
      return props.problem !== undefined;
    },
  };
  const text = (): string => (typeof props.value === "string" ? props.value : "");
  const chosen = (): readonly string[] => (Array.isArray(props.value) ? (props.value as readonly string[]) : []);
  const toggle = (value: string, isOn: boolean): void =>
    props.onChange(isOn ? [...chosen(), value] : chosen().filter((each) => each !== value));
  return (
    <div class="field">
      <Switch
        fallback={
          <>
            <label for={id}>{label()}</label>
            <input
              id={id}
              type={
                INPUT_TYPES[props.field.kind.type === "text" ? (props.field.kind.format ?? "") : "number"] ?? "text"
              }
              step="any"
              value={text()}
              onInput={({ currentTarget }) => props.onChange(currentTarget.value)}
              {...described}
            />
          </>
        }
      >
        <Match when={kindOf("boolean")}>
          <label class="check">
            <input
              type="checkbox"
              checked={props.value === true}
              onChange={({ currentTarget }) => props.onChange(currentTarget.checked)}
              {...described}
            />
            {label()}
          </label>
        </Match>
        <Match when={kindOf("choice")}>
          {(kind) => (
            <>
              <label for={id}>{label()}</label>
              <select
                id={id}
                value={text()}
                onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
                {...described}
              >
                <option value="">Choose…</option>
                <For each={kind().choices}>
                  {(choice) => (
                    <option value={choice.value} selected={choice.value === text()}>
                      {visible(choice.title)}
                    </option>
                  )}
                </For>
              </select>
            </>
          )}
        </Match>
        <Match when={kindOf("choices")}>
          {(kind) => (
            <fieldset {...described}>
              <legend>{label()}</legend>
              <For each={kind().choices}>
                {(choice) => (
                  <label class="check">
                    <input
                      type="checkbox"
                      checked={chosen().includes(choice.value)}
                      onChange={({ currentTarget }) => toggle(choice.value, currentTarget.checked)}
                    />
                    {visible(choice.title)}
                  </label>
                )}
              </For>
            </fieldset>
          )}
        </Match>
      </Switch>
      <span
        id={`${id}-note`}
        class="small"
        classList={{ bad: props.problem !== undefined, muted: props.problem === undefined }}
      >
        {props.problem ?? visible(props.field.description ?? "")}
      </span>
    </div>
  );
}

/** Browsers help with these formats. The value stays text. */
const INPUT_TYPES: Readonly<Record<string, string>> = { email: "email", uri: "url", date: "date", number: "text" };

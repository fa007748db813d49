/** Asks a question in the live region: keys go to its form, and the editor gives texts. */
import type { Question, QuestionAnswer } from "../../domain/backend.ts";
import { deferred } from "../../stdx/deferred.ts";
import type { LiveRegion } from "../tui/inline-screen.ts";
import {
  type FormStep,
  handleFormKey,
  handleFormText,
  isTextPage,
  openQuestionForm,
  type QuestionForm,
} from "./question-form.ts";
import { type FormStyle, renderQuestionForm } from "./question-view.ts";

export class FormInput {
  #form: QuestionForm;
  readonly #answer = deferred<QuestionAnswer>();

  constructor(question: Question) {
    this.#form = openQuestionForm(question);
  }

  get answer(): Promise<QuestionAnswer> {
    return this.#answer.promise;
  }

  /** Whether the line editor is shown. */
  get isTyping(): boolean {
    return isTextPage(this.#form);
  }

  /** Whether Esc leaves the form, and not only a page of it. */
  get isAtStart(): boolean {
    return this.#form.at === 0 && !this.#form.isTyping;
  }

  /** Returns false if the key belongs to the line editor. */
  handleKey(data: string): boolean {
    return this.#take(handleFormKey(this.#form, data));
  }

  /** Takes the text of the line editor. */
  submit(text: string): void {
    this.#take(handleFormText(this.#form, text));
  }

  render(style: FormStyle): LiveRegion {
    return renderQuestionForm(this.#form, style);
  }

  #take(step: FormStep): boolean {
    if ("answer" in step) this.#answer.resolve(step.answer);
    else this.#form = step.form;
    return !("isEdit" in step);
  }
}

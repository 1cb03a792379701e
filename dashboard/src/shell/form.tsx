import { Button, Group, Stack, Textarea, type TextareaProps } from "@mantine/core";
import type { GetInputPropsReturnType } from "@mantine/form";
import type { ComponentProps, ReactNode } from "react";
import { fieldErrors } from "../api/errors.ts";
import { showError } from "../api/queries.ts";

interface Props {
  readonly onSubmit: ComponentProps<"form">["onSubmit"];
  /** Label of the submit button. */
  readonly action: string;
  readonly isBusy: boolean;
  /** The button next to the submit button, which does not submit the form. */
  readonly leave?: ReactNode;
  readonly children: ReactNode;
}

/** Fields, and the button that submits them. The form shows errors itself, instead of the browser. */
export function Form({ onSubmit, action, isBusy, leave, children }: Props) {
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        {children}
        <Group justify="flex-end">
          {leave}
          <Button type="submit" loading={isBusy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** A multi-line field that grows with its text. */
export function LongText(input: TextareaProps) {
  return <Textarea autosize minRows={2} {...input} />;
}

/** A form that has at least these fields. */
export interface Inputs<Name extends string> {
  readonly getInputProps: (name: Name) => GetInputPropsReturnType;
}

type Errors = Readonly<Record<string, string>>;

interface Refusable {
  readonly setErrors: (errors: Errors) => void;
}

/** Shows why the service refused a form's change: at the fields, and as a notification. */
export function refusedIn(form: Refusable, errorsOf: (error: Error) => Errors = fieldErrors) {
  return {
    onError: (error: Error) => {
      form.setErrors(errorsOf(error));
      showError(error);
    },
  };
}

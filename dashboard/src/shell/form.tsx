import { Button, Group, Stack, Textarea, type TextareaProps } from "@mantine/core";
import type { GetInputPropsReturnType } from "@mantine/form";
import type { ComponentProps, ReactNode } from "react";
import { fieldErrors } from "../api/errors.ts";
import { showError } from "../api/queries.ts";

interface Props {
  readonly onSubmit: ComponentProps<"form">["onSubmit"];
  /** On the button that sends it. */
  readonly action: string;
  readonly isBusy: boolean;
  /** The button beside it, which sends nothing. */
  readonly leave?: ReactNode;
  readonly children: ReactNode;
}

/** Fields, and the button that sends them. The form says itself what is wrong, instead of the browser. */
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

/** A field of several lines, which grows with its text. */
export function LongText(input: TextareaProps) {
  return <Textarea autosize minRows={2} {...input} />;
}

/** A form that has these fields, whatever else it has. */
export interface Inputs<Name extends string> {
  readonly getInputProps: (name: Name) => GetInputPropsReturnType;
}

type Errors = Readonly<Record<string, string>>;

interface Refusable {
  readonly setErrors: (errors: Errors) => void;
}

/** How a change that a form has sent says why it was refused: at the fields, and beside them. */
export function refusedIn(form: Refusable, errorsOf: (error: Error) => Errors = fieldErrors) {
  return {
    onError: (error: Error) => {
      form.setErrors(errorsOf(error));
      showError(error);
    },
  };
}

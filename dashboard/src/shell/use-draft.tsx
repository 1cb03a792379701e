import { Alert, Button, Group, Text } from "@mantine/core";
import { type FormValidateInput, type UseFormReturnType, useForm } from "@mantine/form";
import { useLayoutEffect, useState } from "react";
import { changesOf, draftIn, fitting, keepDraft } from "./drafts.ts";
import { useMe, useMerchant } from "./merchants.ts";

interface Options<V> {
  /** Identifies the form and the object that it edits. */
  readonly name: string;
  readonly initialValues: V;
  readonly validate: FormValidateInput<V>;
  /** The fields that are kept and restored. Never a secret or a picture. */
  readonly kept: readonly (keyof V & string)[];
}

interface Draft {
  /** Whether the form shows a restored draft. */
  readonly isBack: boolean;
  readonly discard: () => void;
  /** Called once the form has been sent. */
  readonly forget: () => void;
}

/** A form for the open merchant that keeps its input when the user presses Escape or reloads the page. */
export function useDraft<V extends object>({ name, initialValues, validate, kept }: Options<V>) {
  const { id: userId } = useMe();
  const { id: merchantId } = useMerchant();
  const place = { userId, merchantId, form: name };
  const [isBack, setBack] = useState(false);
  const form: UseFormReturnType<V> = useForm<V>({
    initialValues,
    validate,
    onValuesChange: (values) => {
      const changes = changesOf(form.getInitialValues(), values, kept);
      keepDraft(sessionStorage, place, changes, Date.now());
      if (Object.keys(changes).length === 0) setBack(false);
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the form is opened
  useLayoutEffect(() => {
    const fields = fitting(draftIn(sessionStorage, place, Date.now()) ?? {}, initialValues, kept);
    if (Object.keys(fields).length === 0) return;
    form.setValues({ ...initialValues, ...fields });
    setBack(true);
  }, []);
  const forget = () => keepDraft(sessionStorage, place, {}, Date.now());
  const discard = () => {
    form.reset();
    forget();
    setBack(false);
  };
  return { form, draft: { isBack, discard, forget } satisfies Draft };
}

/** Shown above a restored form's fields. */
export function DraftNotice({ draft: { isBack, discard } }: { readonly draft: Draft }) {
  if (!isBack) return null;
  return (
    <Alert color="indigo" p="xs" role="status">
      <Group justify="space-between" gap="xs">
        <Text size="sm">Your draft was restored.</Text>
        <Button size="compact-sm" variant="default" onClick={discard}>
          Discard draft
        </Button>
      </Group>
    </Alert>
  );
}

// One part of the settings, with its own form, which sends only the fields changed in it. Users who may not change settings can read them.
import { Box, Button, Group, Stack } from "@mantine/core";
import { type FormValidateInput, type UseFormReturnType, useForm } from "@mantine/form";
import type { ReactNode } from "react";
import { changedFields } from "../api/changed-fields.ts";
import { wholeFieldErrors } from "../api/errors.ts";
import type { UpdateSettingsBody } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { refusedIn } from "../shell/form.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";
import { PARTS, type Part } from "./parts.ts";

interface Props<V extends object> {
  readonly part: Part;
  readonly about: ReactNode;
  readonly initial: V;
  readonly validate?: FormValidateInput<V>;
  readonly bodyOf: (values: V) => UpdateSettingsBody;
  readonly children: (form: UseFormReturnType<V>) => ReactNode;
}

export function SettingsForm<V extends object>({ part, about, initial, validate, bodyOf, children }: Props<V>) {
  const { id: merchantId } = useMerchant();
  const { title } = PARTS[part];
  const mayChange = useMay("merchant:update");
  const form = useForm<V>({ initialValues: initial, ...(validate === undefined ? {} : { validate }) });
  const change = useChange("updateSettings", { isShownInPlace: true });
  const send = form.onSubmit((values) => {
    const body = changedFields(bodyOf(form.getInitialValues()), bodyOf(values));
    if (Object.keys(body).length === 0) return;
    change.mutate(
      { merchantId, body },
      {
        onSuccess: () => {
          form.setInitialValues(values);
          form.resetDirty(values);
          showDone("Settings saved. They apply to new invoices.");
        },
        ...refusedIn(form, wholeFieldErrors),
      },
    );
  });
  return (
    <Section title={title} anchor={part} about={about}>
      <form onSubmit={send} noValidate>
        <Fields mayChange={mayChange}>
          {children(form)}
          {mayChange && (
            <Group justify="flex-end">
              <Button type="submit" loading={change.isPending} disabled={!form.isDirty()} aria-label={`Save: ${title}`}>
                Save
              </Button>
            </Group>
          )}
        </Fields>
      </form>
    </Section>
  );
}

/** Fields that are read-only for users who may not change them. */
export function Fields({ mayChange, children }: { readonly mayChange: boolean; readonly children: ReactNode }) {
  return (
    <Box component="fieldset" disabled={!mayChange} bd="none" p={0} m={0} miw={0}>
      <Stack>{children}</Stack>
    </Box>
  );
}

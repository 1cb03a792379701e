import { Badge, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { isEmail, useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { ApiError, fieldErrors } from "../api/errors.ts";
import type { Operator } from "../api/operations.ts";
import { showDone, showError, useChange, useList } from "../api/queries.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { Form } from "../shell/form.tsx";
import { Divided } from "../shell/growing-list.tsx";
import { Icon } from "../shell/icons.tsx";
import { useMe } from "../shell/merchants.ts";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";

export function OperatorsSection() {
  const operators = useList("listOperators", {});
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <Section
      title="Operators"
      about="Operators can use this page. The role gives no access to any merchant's data."
      actions={
        <Button size="sm" leftSection={<Icon name="plus" size={16} />} onClick={open}>
          Add
        </Button>
      }
    >
      <Read query={operators}>
        {({ data }) => (
          <Stack>
            <Divided rows={data}>
              {(operator) => <OperatorRow operator={operator} isLast={data.length === 1} />}
            </Divided>
          </Stack>
        )}
      </Read>
      <Modal opened={isOpen} onClose={close} title="Add an operator">
        <AddForm onDone={close} />
      </Modal>
    </Section>
  );
}

function OperatorRow({ operator, isLast }: { readonly operator: Operator; readonly isLast: boolean }) {
  const { id, email, name, operatorSince } = operator;
  const me = useMe();
  const remove = useChange("removeOperator", {
    // A user who removed themselves can no longer read this page.
    onSuccess: () => (id === me.id ? location.assign("/console") : showDone(`${email} is no longer an operator.`)),
  });
  return (
    <Group justify="space-between" gap="sm">
      <Stack gap={2} style={{ flex: "1 1 16rem" }} miw={0}>
        <Group gap="xs">
          <Text fw={600} style={{ overflowWrap: "anywhere" }}>
            {name ?? email}
          </Text>
          {id === me.id && <Badge color="green">You</Badge>}
        </Group>
        <Text size="sm" c="dimmed" component="div" style={{ overflowWrap: "anywhere" }}>
          {name !== null && `${email}, `}operator since <Time value={operatorSince} />
        </Text>
      </Stack>
      {isLast ? (
        <Text size="sm" c="dimmed">
          Last operator, cannot be removed
        </Text>
      ) : (
        <ConfirmButton
          action="Remove"
          subject={email}
          size="xs"
          isBusy={remove.isPending}
          consequence={`${id === me.id ? "You" : email} will lose access to this page. The account stays, and so do its team memberships.`}
          onConfirmed={() => remove.mutate({ params: { userId: id } })}
        />
      )}
    </Group>
  );
}

function AddForm({ onDone }: { readonly onDone: () => void }) {
  const form = useForm({
    initialValues: { email: "" },
    validate: { email: isEmail("Enter an email address.") },
  });
  const add = useChange("addOperator", {
    isShownInPlace: true,
    onSuccess: ({ email }) => {
      showDone(`${email} is now an operator.`);
      onDone();
    },
  });
  const send = form.onSubmit(({ email }) =>
    add.mutate(
      { body: { email: email.trim() } },
      {
        onError: (error) => {
          const isUnknown = error instanceof ApiError && error.code === "USER_NOT_FOUND";
          const errors = isUnknown ? { email: error.message } : fieldErrors(error);
          if (Object.keys(errors).length === 0) showError(error);
          form.setErrors(errors);
        },
      },
    ),
  );
  return (
    <Form
      onSubmit={send}
      action="Add"
      isBusy={add.isPending}
      leave={
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      }
    >
      <TextInput
        label="Email address"
        description="It must belong to a user who has signed in here before."
        type="email"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps("email")}
      />
    </Form>
  );
}

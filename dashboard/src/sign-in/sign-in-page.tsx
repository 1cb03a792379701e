import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { Loading } from "../shell/problem.tsx";
import { Entrance } from "./entrance.tsx";
import { Gate } from "./gate.tsx";

export function SignInPage() {
  const { returnTo = "/console" } = useSearch({ from: "/sign-in" });
  const here = `/sign-in?returnTo=${encodeURIComponent(returnTo)}`;
  return (
    <Entrance title="Sign in" about="No password needed. The first sign-in makes your account.">
      <Gate here={here}>{() => <Leave to={returnTo} />}</Gate>
    </Entrance>
  );
}

/** Signed in: on to where the user wanted to go. */
function Leave({ to }: { readonly to: string }) {
  const navigate = useNavigate();
  useEffect(() => {
    void navigate({ href: to, replace: true });
  }, [navigate, to]);
  return <Loading />;
}

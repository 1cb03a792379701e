import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { reading } from "../api/queries.ts";
import { Loading } from "../shell/problem.tsx";
import { Entrance } from "./entrance.tsx";
import { Gate } from "./gate.tsx";

const OPEN = "Signing in for the first time creates your account.";
const INVITED = "New accounts are by invitation only.";

export function SignInPage() {
  const { returnTo = "/console" } = useSearch({ from: "/sign-in" });
  const { data: methods } = useQuery(reading("listSignInMethods", {}));
  const here = `/sign-in?returnTo=${encodeURIComponent(returnTo)}`;
  return (
    <Entrance title="Sign in" about={`No password needed. ${methods?.isSignUpOpen === false ? INVITED : OPEN}`}>
      <Gate here={here}>{() => <Leave to={returnTo} />}</Gate>
    </Entrance>
  );
}

/** After a sign-in, continues to the page that the user wanted. */
function Leave({ to }: { readonly to: string }) {
  const navigate = useNavigate();
  useEffect(() => {
    void navigate({ href: to, replace: true });
  }, [navigate, to]);
  return <Loading />;
}

/** The token of a set-up link: what stands after `#`, which browsers send to no server. Loaded first of all, so that it leaves the address at once. */
export const setUpToken = location.pathname === "/setup" && location.hash.length > 1 ? location.hash.slice(1) : null;

if (setUpToken !== null) history.replaceState(history.state, "", location.pathname);

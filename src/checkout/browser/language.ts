/** The result is to be called when the page changed. */
export function startLanguage(): () => void {
  document.addEventListener("change", ({ target }) => {
    const form = target instanceof HTMLSelectElement ? target.closest<HTMLFormElement>("form[data-language]") : null;
    form?.requestSubmit();
  });
  return () => {
    for (const button of document.querySelectorAll<HTMLElement>("form[data-language] button")) button.hidden = true;
  };
}

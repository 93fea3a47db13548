import { Dialog } from "./dialog.tsx";
import { globalKeys, isHelpOpen, pageKeys } from "./keys.ts";

export function KeysDialog() {
  if (!isHelpOpen.value) return null;
  const close = () => {
    isHelpOpen.value = false;
  };
  return (
    <Dialog title="Keys" onClose={close}>
      <h2>Keys</h2>
      <dl class="keys-list">
        {[...pageKeys.value, ...globalKeys].map(([key, text]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
      <div class="actions">
        <button type="button" class="button primary" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

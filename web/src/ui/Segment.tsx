export type Choice<T extends string> = { value: T; label: string; disabled?: boolean; why?: string };

type Props<T extends string> = { label: string; value: T; choices: readonly Choice<T>[]; onChange: (value: T) => void };

/** One of a few, all in view. */
export function Segment<T extends string>({ label, value, choices, onChange }: Props<T>) {
  return (
    <div className="seg" role="group" aria-label={label}>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          disabled={choice.disabled}
          title={choice.why}
          onClick={() => onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </div>
  );
}

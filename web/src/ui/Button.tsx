import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { Icon } from "./Icon";
import type { IconName } from "./IconSprite";

type Look = "line" | "ghost" | "fill" | "ink";

type Props = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: Look;
  icon?: IconName;
  large?: boolean;
  children?: ReactNode;
  ref?: Ref<HTMLButtonElement>;
};

/** A button. Without children it is square and needs `aria-label`. */
export function Button({ look = "ghost", icon, large, className = "", children, ...rest }: Props) {
  const square = children === undefined ? "sq" : "";
  return (
    <button type="button" {...rest} className={`btn ${look} ${square} ${large ? "lg" : ""} ${className}`}>
      {icon && <Icon name={icon} size={children === undefined ? "m" : "s"} />}
      {children}
    </button>
  );
}

import { Burger } from "../shell/TopBar";
import { AgentsBox } from "./AgentsBox";
import { DoctorBox } from "./DoctorBox";

/** What `warren doctor` says, as a page. */
export function DoctorPage() {
  return (
    <>
      <header className="top"><Burger /><h1>Doctor</h1></header>
      <section className="page" aria-label="Doctor">
        <div className="ov-in"><DoctorBox /><AgentsBox /></div>
      </section>
    </>
  );
}

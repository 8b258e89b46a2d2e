"""The state machine of a lease, on one page. Each verb is a value: one conditional update that decides by itself.

How the row stands                               claim    again        heartbeat    release      handover     cancel    evict     reopen    sweep   inspect
-----------------------------------------------  -------  -----------  -----------  -----------  -----------  --------  --------  --------  ------  -------
never seen                                       Claimed  Claimed      not current  not current  not current  conflict  conflict  conflict  -       Free
held                                             Held     Claimed      Kept         Released     Claimed      Steered   Steered   conflict  -       Held
overdue: past its end, within the margin         Held     not current  Late         Released     Claimed      Steered   Steered   conflict  -       Held
lapsed: past its end and the margin              Claimed  not current  Late         Released     Claimed      conflict  conflict  Steered   marked  Free
lapsed, in its lock delay                        Delayed  not current  Late         Released     Claimed      conflict  conflict  Steered   marked  Delayed
released                                         Claimed  not current  not current  Released     not current  conflict  conflict  conflict  -       Free
released, in its lock delay                      Delayed  not current  not current  Released     not current  conflict  conflict  conflict  -       Delayed
failed                                           Claimed  not current  not current  Released     not current  conflict  conflict  Steered   -       Free
expired: marked so by the sweep                  Claimed  not current  not current  not current  not current  conflict  conflict  Steered   -       Free
expired, in its lock delay                       Delayed  not current  not current  not current  not current  conflict  conflict  Steered   -       Delayed
evicted                                          Claimed  not current  not current  not current  not current  conflict  conflict  Steered   -       Free
done                                             Done     not current  not current  Released     not current  conflict  conflict  Steered   -       Done
done, its retention over                         Claimed  not current  not current  Released     not current  conflict  conflict  Steered   -       Free
bound: its session lives                         Held     Claimed      Kept         Released     Claimed      Steered   Steered   conflict  -       Held
bound, past its session's end and the margin     Claimed  not current  Late         Released     Claimed      Steered   Steered   Steered   marked  Free
bound, its session's death written               Claimed  not current  gone         Released     gone         Steered   Steered   Steered   marked  Free
carried: past its own end, its session lives     Held     Claimed      Kept         Released     Claimed      Steered   Steered   conflict  -       Held
carried, its session kept alive since then       Held     Claimed      Kept         Released     Claimed      Steered   Steered   conflict  -       Held
carried, past its session's end and the margin   Claimed  not current  Late         Released     Claimed      Steered   Steered   Steered   marked  Free
carried, its session's death written             Claimed  not current  gone         Released     gone         Steered   Steered   Steered   marked  Free

"claim" is somebody else's, "again" repeats the row's last claim with its idempotency key and body; heartbeat, release
and handover carry the row's last lease id, release with the outcome that the lease had if it has ended. Late is a Kept
that says `late`. Errors: "not current" is `lease_not_current`, "gone" is `session_expired`, "conflict" is `conflict`.
The sweep marks a lease as expired, or leaves it alone (-). A claim that allows fewer attempts than were made is
Exhausted where the table says Claimed. What a deleted session still holds is released, whatever its row says. The
tests run every cell of this very table.

Cancel and evict ask the row alone, and a row whose session has ended without anybody having marked it is still held
by what it says; it costs nothing, and who asks for it wants just that.

Two edges of expiry, because "now" is the clock of whichever Lambda answers:

      claimed                  expires_at      expires_at + margin
         |------- held ------------|---- overdue -----|---- free
         |  holder has authority   |  nobody has      |  the next owner may have

A lock delay counts from the end too, whatever ended the lease: the name opens when both have passed.
"""  # noqa: E501 - a table is read in rows

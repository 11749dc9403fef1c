//! What was decided: options and the choice, kernels that are retired. In: a decision. Out: those of a session or a kernel, oldest
//! first.

use kiln_core::Fault;
use kiln_session::{Decision, DecisionKind};

use crate::Store;
use crate::database::column::Columns;
use crate::database::fault::fault;

impl Store {
    /// Records a decision.
    pub fn record_decision(&self, made: &Decision) -> Result<(), Fault> {
        let what = &format!("recording decision {}", made.id);
        let insert = sqlx::query(
            "INSERT INTO decisions (id, at_ms, session, kernel, path, kind, options, choice, because, by_user) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        )
        .bind(made.id.as_str())
        .bind(made.at_ms)
        .bind(made.session.as_deref())
        .bind(made.kernel.as_str())
        .bind(made.path.as_str())
        .bind(made.kind.name())
        .bind(serde_json::to_string(&made.options).map_err(|e| Fault::new(what.as_str(), e))?)
        .bind(made.choice.as_str())
        .bind(made.because.as_str())
        .bind(made.user.as_str());
        self.transaction(what, |session| session.change(insert).map(|_| ()).map_err(|e| fault(what, &e)))
    }

    /// What was decided of a kernel, or of all, oldest first.
    pub fn decisions(&self, kernel: Option<&str>) -> Result<Vec<Decision>, Fault> {
        let statement = sqlx::query(
            "SELECT id, at_ms, session, kernel, path, kind, options, choice, because, by_user FROM decisions \
             WHERE kernel = $1 OR $2 = 1 ORDER BY at_ms, id",
        );
        let statement = statement.bind(kernel.unwrap_or_default()).bind(i64::from(kernel.is_none()));
        self.list_of("decision", statement, decision)
    }
}

fn decision(row: Columns<'_>) -> Result<Decision, Fault> {
    Ok(Decision {
        id: row.get("id")?,
        at_ms: row.get("at_ms")?,
        session: row.get("session")?,
        kernel: row.get("kernel")?,
        path: row.get("path")?,
        kind: row.read("kind", DecisionKind::named)?,
        options: row.json("options")?,
        choice: row.get("choice")?,
        because: row.get("because")?,
        user: row.get("by_user")?,
    })
}

//! A server that the user names: nothing of theirs is touched, and a missing right is explained.

use std::process::Command;

use leaseproof_engines::servers::Address;
use leaseproof_engines::{Engine, mysql, postgres};
use leaseproof_reports::RunDir;
use leaseproof_reports::bench::{BenchCell, Reading};
use sqlx::{AssertSqlSafe, Connection, MySqlConnection, PgConnection, Row};
use url::Url;

mod support;

async fn url_of(engine: &'static dyn Engine) -> Url {
    match support::target(engine).await.endpoint.address {
        Address::Server(url) => url,
        Address::Directory(path) => panic!("{} is not a server", path.display()),
    }
}

/// The same server for another user, in that database.
fn as_user(url: &Url, user: &str, database: &str) -> Url {
    let mut theirs = url.clone();
    theirs.set_username(user).unwrap();
    theirs.set_password(Some("hushhush")).unwrap();
    theirs.set_path(database);
    theirs
}

/// Runs a quick contract on the server with that URL; the exit code and everything printed.
fn run(variable: &str, engine: &str, url: &Url) -> (i32, String) {
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_leaseproof"))
        .args(["run", "--engine", engine, "--contract", "renew/extends-current-owner", "--out"])
        .arg(out.path())
        .env(variable, url.as_str())
        .output()
        .unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    // Not `latest`, which stays where it is when nothing ran.
    let run = std::fs::read_dir(out.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    for file in ["run.json", "summary.md", "junit.xml"] {
        text.push_str(&std::fs::read_to_string(run.join(file)).unwrap());
    }
    (output.status.code().unwrap(), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn existing_objects_of_a_postgres_server_stay_as_they_were() {
    support::block_on(async {
        let url = url_of(&postgres::ENGINE).await;
        let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
        let database = format!("theirs_{}", std::process::id());
        sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {database}")))
            .execute(&mut connection)
            .await
            .unwrap();
        let mut theirs = url.clone();
        theirs.set_path(&database);
        let mut inside = PgConnection::connect(theirs.as_str()).await.unwrap();
        let set_up =
            "CREATE TABLE lease_event (mine text); INSERT INTO lease_event VALUES ('kept');";
        sqlx::raw_sql(set_up).execute(&mut inside).await.unwrap();
        let (code, text) = run("LEASEPROOF_POSTGRES_URL", "postgres", &theirs);
        assert_eq!(code, 0, "{text}");
        let said: String =
            sqlx::query("SHOW server_version").fetch_one(&mut inside).await.unwrap().get(0);
        let number = said.split_whitespace().next().unwrap();
        assert!(text.contains(&format!("postgres:{number}")), "not called what it is: {text}");
        let rows =
            sqlx::query("SELECT mine FROM lease_event").fetch_all(&mut inside).await.unwrap();
        assert_eq!(rows.len(), 1);
        let listed = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'leaseproof%'";
        let left: i64 = sqlx::query(listed).fetch_one(&mut inside).await.unwrap().get(0);
        assert_eq!(left, 0, "a schema was left behind");
        inside.close().await.unwrap();
        let drop = format!("DROP DATABASE {database}");
        sqlx::query(AssertSqlSafe(drop)).execute(&mut connection).await.unwrap();
    });
}

#[test]
fn a_postgres_user_without_the_right_to_create_is_told_what_to_grant() {
    support::block_on(async {
        let url = url_of(&postgres::ENGINE).await;
        let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
        let role = format!("powerless_{}", std::process::id());
        let create = format!("CREATE ROLE {role} LOGIN PASSWORD 'hushhush'");
        sqlx::query(AssertSqlSafe(create)).execute(&mut connection).await.unwrap();
        let theirs = as_user(&url, &role, url.path());
        let (code, text) = run("LEASEPROOF_POSTGRES_URL", "postgres", &theirs);
        let drop = format!("DROP ROLE {role}");
        sqlx::query(AssertSqlSafe(drop)).execute(&mut connection).await.unwrap();
        assert_eq!(code, 96, "{text}");
        assert!(text.contains("grant the user `CREATE` on the database"), "{text}");
        assert!(!text.contains("hushhush"), "{text}");
    });
}

#[test]
fn a_mysql_user_without_the_right_to_create_is_told_what_to_grant() {
    support::block_on(async {
        let url = url_of(&mysql::ENGINE).await;
        let mut connection = MySqlConnection::connect(url.as_str()).await.unwrap();
        let user = format!("powerless_{}", std::process::id());
        let create = format!("CREATE USER {user}@'%' IDENTIFIED BY 'hushhush'");
        sqlx::query(AssertSqlSafe(create)).execute(&mut connection).await.unwrap();
        let theirs = as_user(&url, &user, "");
        let (code, text) = run("LEASEPROOF_MYSQL_URL", "mysql", &theirs);
        let drop = format!("DROP USER {user}@'%'");
        sqlx::query(AssertSqlSafe(drop)).execute(&mut connection).await.unwrap();
        assert_eq!(code, 96, "{text}");
        assert!(text.contains("grant the user"), "{text}");
        assert!(!text.contains("hushhush"), "{text}");
    });
}

/// Runs the probes on the server with that URL as two parts, and returns the cells of both joined.
fn probed(variable: &str, engine: &str, url: &Url) -> Vec<BenchCell> {
    let out = tempfile::tempdir().unwrap();
    let leaseproof = |arguments: &[&str], part: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_leaseproof"))
            .args(arguments)
            .arg("--out")
            .arg(out.path().join(part))
            .current_dir(out.path())
            .env(variable, url.as_str())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let text = text + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(!text.contains("hushhush"), "{text}");
    };
    for part in ["1/2", "2/2"] {
        let scenarios = ["--scenario", "skip-probe", "--scenario", "observer-effect"];
        let arguments = ["bench", "--engine", engine, "--shard", part];
        leaseproof(&[&arguments[..], &scenarios].concat(), &part[..1]);
    }
    leaseproof(&["merge", "1", "2"], "joined");
    RunDir::load_bench(out.path().join("joined/latest")).unwrap().cells
}

/// The readings of that name that are not observable, and those that are.
fn readings(cells: &[BenchCell], name: &str) -> (usize, usize) {
    let repeats = cells.iter().flat_map(|cell| &cell.repeats);
    let found: Vec<_> = repeats.filter_map(|repeat| repeat.readings.get(name)).collect();
    let hidden = |reading: &&&Reading| matches!(reading, Reading::NotObservable(_));
    let hidden = found.iter().filter(hidden).count();
    (hidden, found.len() - hidden)
}

/// As on a managed server: what this user may not see is not observable, and the rest is measured.
#[test]
fn a_postgres_user_who_may_only_create_is_measured() {
    support::block_on(async {
        let url = url_of(&postgres::ENGINE).await;
        let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
        let name = format!("limited_{}", std::process::id());
        let create = format!("CREATE ROLE {name} LOGIN PASSWORD 'hushhush'");
        sqlx::query(AssertSqlSafe(create)).execute(&mut connection).await.unwrap();
        let create = format!("CREATE DATABASE {name} OWNER {name}");
        sqlx::query(AssertSqlSafe(create)).execute(&mut connection).await.unwrap();
        let theirs = as_user(&url, &name, &name);
        let cells = probed("LEASEPROOF_POSTGRES_URL", "postgres", &theirs);
        for object in ["DATABASE", "ROLE"] {
            let drop = format!("DROP {object} {name}");
            sqlx::query(AssertSqlSafe(drop)).execute(&mut connection).await.unwrap();
        }
        let (hidden, shown) = readings(&cells, "lock_wait_ms");
        assert!(hidden > 0 && shown == 0, "{hidden} hidden, {shown} shown");
        assert!(readings(&cells, "pages_touched_per_claim").1 > 0, "{cells:?}");
    });
}

#[test]
fn a_mysql_user_who_may_only_create_is_measured() {
    support::block_on(async {
        let url = url_of(&mysql::ENGINE).await;
        let mut connection = MySqlConnection::connect(url.as_str()).await.unwrap();
        let user = format!("limited_{}", std::process::id());
        for statement in [
            format!("CREATE USER {user}@'%' IDENTIFIED BY 'hushhush'"),
            format!("GRANT ALL ON `leaseproof\\_%`.* TO {user}@'%'"),
        ] {
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        }
        let theirs = as_user(&url, &user, "");
        let cells = probed("LEASEPROOF_MYSQL_URL", "mysql", &theirs);
        let drop = format!("DROP USER {user}@'%'");
        sqlx::query(AssertSqlSafe(drop)).execute(&mut connection).await.unwrap();
        let (hidden, shown) = readings(&cells, "lock_requests_per_claim");
        assert!(hidden > 0 && shown == 0, "{hidden} hidden, {shown} shown");
        assert!(readings(&cells, "rows_read_per_claim").1 > 0, "{cells:?}");
    });
}

#[test]
fn a_wrong_password_is_a_missing_engine() {
    support::block_on(async {
        let mut url = url_of(&postgres::ENGINE).await;
        url.set_password(Some("wr0ngw0rd")).unwrap();
        let (code, text) = run("LEASEPROOF_POSTGRES_URL", "postgres", &url);
        assert_eq!(code, 96, "{text}");
        assert!(text.contains("password authentication failed"), "{text}");
        let remedy = "correct the user or the password in `LEASEPROOF_POSTGRES_URL`";
        assert!(text.contains(remedy), "{text}");
        assert!(!text.contains("wr0ngw0rd"), "{text}");
    });
}

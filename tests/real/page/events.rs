//! Sessions and approvals, told as they change.

use super::glass::Glass;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_told_when_they_come_change_and_go() {
    let glass = Glass::start("");
    let before = glass.session("agent");
    let mut events = glass.open("/ws/events").await;
    let (told, _) = events.until("ready").await;
    let kinds: Vec<&str> = told.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["capabilities", "session:created", "ready"]);
    assert_eq!(told[0]["capabilities"]["hosts"], json!(["local"]));
    assert_eq!(told[1]["session"]["sessionId"], json!(before));
    let id = glass.session("person");
    let created = events.message("session:created").await;
    assert_eq!(created["session"]["sessionId"], json!(id));
    glass.run(&id, "exit 3");
    loop {
        let updated = events.message("session:updated").await;
        if updated["session"]["lastExitCode"] == json!(3) && updated["session"]["busy"] == false {
            assert_eq!(updated["session"]["lastCommand"], json!("exit 3"));
            break;
        }
    }
    glass.done("person", "DisposeSession", &json!({ "sessionId": id }));
    let disposed = events.message("session:disposed").await;
    assert_eq!(disposed["sessionId"], json!(id));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_told_of_agents_sessions_alone() {
    let glass = Glass::start("");
    let own = glass.session("agent");
    glass.session("person");
    let token = shellglass_tests::calls::token(glass.daemon.home(), "agent");
    let bearer = format!("Bearer {token}");
    let opened = glass
        .socket("/ws/events", &[("authorization", &bearer)])
        .await;
    let (told, _) = opened.expect("an agent may").until("ready").await;
    let seen: Vec<_> = told
        .iter()
        .filter(|it| it["type"] == "session:created")
        .collect();
    assert_eq!(seen.len(), 1, "{told:?}");
    assert_eq!(seen[0]["session"]["sessionId"], json!(own));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_is_told_and_a_person_answers() {
    let glass = Glass::start("[policy]\n");
    let id = glass.session("agent");
    let mut events = glass.open("/ws/events").await;
    events.until("ready").await;
    let order = json!({ "sessionId": id, "args": { "command": "touch x" } });
    let result = std::thread::scope(|scope| {
        let run = scope.spawn(|| glass.done("agent", "Run", &order));
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            runtime.block_on(async {
                let pending = events.message("approval:pending").await;
                let approval = &pending["approval"];
                assert_eq!(approval["command"], json!("touch x"));
                let answer = json!({ "approvalId": approval["approvalId"], "approve": true });
                let refused = glass.call("agent", "ResolveApproval", &answer);
                assert_eq!(refused.status, 403, "{refused:?}");
                glass.done("person", "ResolveApproval", &answer);
                let resolved = events.message("approval:resolved").await;
                assert_eq!(resolved["approvalId"], approval["approvalId"]);
            });
        });
        run.join().unwrap()
    });
    assert_eq!(result["success"]["exitCode"], json!(0));
}

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let v: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&a[1]).unwrap()).unwrap();
    let v = if v["scaling"].is_object() { v["scaling"].clone() } else { v };
    let mut s: shardlab_core::rows::Scaling = serde_json::from_value(v).unwrap();
    s.measured_on = Some("Intel(R) Xeon(R) Processor, avx512, 2026-11-30".into());
    std::fs::write(format!("{}-lookup.svg", a[2]), shardlab_report::lookup_growth_chart(&s).unwrap()).unwrap();
    std::fs::write(format!("{}-cost.svg", a[2]), shardlab_report::cost_growth_chart(&s).unwrap()).unwrap();
}
